import DeviceCodecs
import ModbusBus
import SiteConfig

extension ModbusIOMap {
    /// - Parameter driver: says where input 1 and coil 1 are, in place of the site's file.
    init(_ config: IOModuleConfig, driver: RegisterMap? = nil) {
        func address(_ first: UInt16?, _ number: Int, _ own: UInt16) -> UInt16 {
            first.map { $0 &+ UInt16(number - 1) } ?? own
        }
        let io = driver?.io
        self.init(
            inputs: config.inputs.map { input in
                Input(
                    Wire(input.name), address: address(io?.firstInput, input.number, input.address),
                    isNormallyClosed: input.isNormallyClosed)
            },
            coils: config.coils.map {
                Coil(Load($0.purpose), address: address(io?.firstCoil, $0.number, $0.address))
            })
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
