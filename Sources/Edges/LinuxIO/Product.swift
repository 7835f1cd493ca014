import CLinux

/// What these programs are.
public enum Product {
    /// As the package has it: `0.1.0+712`; of a build for oneself the number alone.
    public static var version: String { String(cString: ballast_version()) }
}
