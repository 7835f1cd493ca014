import ConfigText
import SiteConfig
import SiteFile
import YAMLText

/// What a text gave: a site, or the lines of its errors.
enum Outcome {
    case site(SiteConfig)
    case refused([String])

    init(_ text: String) {
        do throws(ConfigError) {
            let tree = try YAMLText.parse(Array(text.utf8), file: "site.yaml")
            do throws(ConfigErrors) {
                self = .site(try SiteConfig.read(tree, file: "site.yaml"))
            } catch {
                self = .refused(error.description.split(separator: "\n").map(String.init))
            }
        } catch {
            self = .refused([error.description])
        }
    }

    var site: SiteConfig? {
        switch self {
        case .site(let site): site
        case .refused: nil
        }
    }

    var errors: [String] {
        switch self {
        case .site: []
        case .refused(let lines): lines
        }
    }
}

/// The site descriptions this project started from, as their authors wrote them.
enum SeedSample {
    static let layer1 = """
        mode: simulation  # or 'hardware'
        bess_units:
          - id: BESS_DC01_01
            campus_id: CAMPUS_MUMBAI_ANDHERI
            modbus:
              host: 192.168.1.100
              port: 502
            capacity_kwh: 250
            max_power_kw: 100

        """
    static let layer2 = """
        campuses:
          - id: CAMPUS_MUMBAI_ANDHERI
            location:
              city: Mumbai
              state: Maharashtra
              latitude: 19.1136
              longitude: 72.8697
            bess_units: 4

        """
    static let layer3 = """
        grid_integration:
          mode: simulation  # or 'posoco', 'pmu'
          frequency_source: simulated
          scada_enabled: false
          droop_settings:
            deadband_hz: [49.9, 50.05]
            droop_percent: 5.0

        """
    static let layer4 = """
        market_participation:
          enabled: false
          exchanges:
            - name: IEX
              api_url: https://api.iexindia.com
              credentials: ${IEX_API_KEY}
            - name: PXIL
              api_url: https://api.pxil.co.in
              credentials: ${PXIL_API_KEY}

        """
}
