import ModbusBus
import SiteConfig

extension ModbusIOMap {
    init(_ config: IOModuleConfig) {
        self.init(
            inputs: config.inputs.map { input in
                Input(
                    Wire(input.name), address: input.address, isNormallyClosed: input.isNormallyClosed)
            },
            coils: config.coils.map { Coil(Load($0.purpose), address: $0.address) })
    }
}

extension ModbusIOMap.Wire {
    init(_ name: DigitalInputConfig.Name) {
        self =
            switch name {
            case .emergencyStop: .emergencyStop
            case .smoke: .smoke
            case .gas: .gas
            case .door: .door
            case .breaker: .breaker
            case .mainContactor: .mainContactor
            case .prechargeContactor: .prechargeContactor
            }
    }
}

extension ModbusIOMap.Load {
    init(_ purpose: CoilConfig.Purpose) {
        self =
            switch purpose {
            case .mainContactor: .mainContactor
            case .prechargeContactor: .prechargeContactor
            case .permit: .permit
            }
    }
}
