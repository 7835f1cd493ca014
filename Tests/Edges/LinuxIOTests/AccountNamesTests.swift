import Testing

@testable import LinuxIO

@Suite struct AccountNamesTests {
    // swift-format-ignore
    static let rows: [(line: String, number: UInt32, name: String?, why: Comment)] = [
        ("anna:x:1000:1000:Anna,,,:/home/anna:/bin/bash", 1_000, "anna", "an account"),
        ("anna:x:1000:1000::/home/anna:/bin/bash",        1_001, nil, "another number"),
        ("anna:x:one:1000::/home/anna:/bin/bash",         1,     nil, "no number"),
        (":x:7:7::/:/bin/sh",                             7,     nil, "no name"),
        ("a b:x:7:7::/:/bin/sh",                          7,     nil, "not one word"),
        ("\u{1B}[2J:x:7:7::/:/bin/sh",                    7,     nil, "not printable"),
        ("x:7",                                           7,     nil, "cut short"),
        ("",                                              0,     nil, "an empty list"),
    ]
    @Test(arguments: rows)
    func `a name is one printable word of the machine's own list`(
        row: (line: String, number: UInt32, name: String?, why: Comment)
    ) {
        #expect(Accounts.names(inList: row.line)[row.number] == row.name, row.why)
    }

    @Test func `of two names of one number the first counts, and nobody learnt is a number`() {
        #expect(Accounts.names(inList: "root:x:0:0::/:/\ntoor:x:0:0::/:/\n")[0] == "root")
        #expect(Accounts.person(4_000_000_000) == "user id 4000000000")
    }
}
