import ModbusBus
import SiteConfig

extension ModbusIOMap {
    init(_ config: IOModuleConfig) {
        self.init(
            inputs: config.inputs.map {
                Input($0.name, address: $0.address, isNormallyClosed: $0.isNormallyClosed)
            },
            coils: config.coils.map { Coil($0.purpose, address: $0.address) })
    }
}
