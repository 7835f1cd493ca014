import DeviceCodecs
import SiteConfig

extension IOModuleConfig {
    /// Where the module's inputs and coils are on the wire, as its driver says; as they were without one.
    public mutating func place(by io: RegisterMap.DigitalIO?) {
        guard let io else { return }
        for index in inputs.indices {
            inputs[index].address = io.firstInput &+ UInt16(inputs[index].number - 1)
        }
        for index in coils.indices { coils[index].address = io.firstCoil &+ UInt16(coils[index].number - 1) }
    }
}
