"""Random DBC texts: every kind of signal, order, multiplexing, and what else a file may hold."""

FACTORS = ["1", "0.1", "0.01", "0.001", "0.25", "-0.5", "2", "-3", "1e-07", "0.015625", "1.7E+3", "+4", "7."]
OFFSETS = ["0", "0", "0", "-40", "-273.15", "1e3", "+5", "0.5", "-3000"]


def bits_of(start, length, motorola):
    bit, taken = start, []
    for _ in range(length):
        taken.append(bit)
        if motorola:
            bit = bit + 15 if bit % 8 == 0 else bit - 1
        else:
            bit += 1
    return taken


class MessageText:
    def __init__(self, chance, number, key, length):
        self.chance, self.key, self.length = chance, key, length
        self.name = f"Message_{number}"
        self.lines, self.extra, self.count = [], [], 0

    def place(self, free, longest):
        """A signal on free bits: (start, length, is Motorola, bits), or None."""
        for _ in range(40):
            length = min(longest, self.chance.choice([self.chance.randint(1, 64), 8, 16, 32, 64]))
            start = self.chance.randrange(self.length * 8)
            motorola = self.chance.random() < 0.5
            taken = bits_of(start, length, motorola)
            if set(taken) <= free:
                return start, length, motorola, taken
        return None

    def add(self, free, mark="", longest=64, plain=False):
        """Writes a signal, takes its bits off `free`, and gives its name and length."""
        spot = self.place(free, longest)
        if spot is None:
            return None
        start, length, motorola, taken = spot
        free -= set(taken)
        self.count += 1
        name = f"Signal_{self.count}"
        chance = self.chance
        factor, offset = ("1", "0") if plain else (chance.choice(FACTORS), chance.choice(OFFSETS))
        sign = "+" if plain else chance.choice("+-")
        space = chance.choice(["", " ", "\t"])
        end = chance.choice(["", " ", "\r", " // a remark"])
        self.lines.append(
            f"{space} SG_ {name}{mark and ' ' + mark}{space}: {start}|{length}@{0 if motorola else 1}{sign}{space}"
            f"({factor},{offset}){space}[{chance.choice(['0|0', '-1|1', '0|+1e3'])}] "
            f"\"{chance.choice(['', 'V', '°C', '%'])}\" {chance.choice(['Vector__XXX', 'A,B', 'A , B'])}{end}")
        if not plain and length in (32, 64) and chance.random() < 0.5:
            self.extra.append(f"SIG_VALTYPE_ {self.key} {name} : {1 if length == 32 else 2};")
        if not plain and chance.random() < 0.1:
            self.extra.append(f"CM_ SG_ {self.key} {name} \"one; two\nthree \\\"four\\\" five\";")
        return name, length

    def values(self, length, count):
        """Disjoint ranges of a switch's values."""
        top = (1 << length) - 1
        cuts = sorted(self.chance.sample(range(top + 1), min(2 * count, top + 1) // 2 * 2))
        return [(cuts[i], cuts[i + 1]) for i in range(0, len(cuts), 2)]

    def fill(self, free, depth, parent=None, ranges=None, extended=False):
        """Signals that are there together: all of the message, or of one branch of a switch."""

        def mark(letter=""):
            return letter if parent is None else f"m{ranges[0][0]}{letter}"

        def bind(name):
            if parent is not None and extended:
                text = ", ".join(f"{low}-{high}" for low, high in ranges)
                self.extra.append(f"SG_MUL_VAL_ {self.key} {name} {parent} {text};")

        switch = None
        if depth > 0 and self.chance.random() < 0.7:
            switch = self.add(free, mark("M"), longest=6, plain=True)
            if switch:
                bind(switch[0])
        branch_bits = set()
        if switch:
            half = sorted(free)
            self.chance.shuffle(half)
            cut = self.chance.randrange(self.length * 8)
            branch_bits = {bit for bit in free if bit >= cut}
            free -= branch_bits
        for _ in range(self.chance.randint(0, 6)):
            added = self.add(free, mark())
            if added:
                bind(added[0])
        if switch:
            name, length = switch
            for low, high in self.values(length, 4):
                nested = [(low, high)] if extended else [(low, low)]
                self.fill(set(branch_bits), depth - 1 if extended else 0, name, nested, extended)


def text(chance):
    lines = ['VERSION "a \\"version\\""', "", "NS_ :", "\tNS_DESC_", "\tCM_", "\tSG_MUL_VAL_", "", "BS_:", "", "BU_: A B"]
    lines.append('VAL_TABLE_ Switch 1 "on; off" 0 "off" ;')
    extra = []
    keys = set()
    for number in range(chance.randint(2, 7)):
        key = chance.randrange(0x800) if chance.random() < 0.5 else chance.randrange(1 << 29) | 0x80000000
        if chance.random() < 0.2 and keys:
            # The same number as another message's, in the other format.
            key = min(keys) & 0x7FF | 0x80000000
        if key in keys:
            continue
        keys.add(key)
        length = chance.choice([1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 12, 16, 24, 64])
        message = MessageText(chance, number, key, length)
        extended = chance.random() < 0.5
        message.fill(set(range(length * 8)), 2 if extended else 1, extended=extended)
        lines += ["", f"BO_ {key} {message.name}: {length} {chance.choice(['A', 'Vector__XXX'])}"] + message.lines
        extra += message.extra
    lines += ["", "BO_ 3221225472 VECTOR__INDEPENDENT_SIG_MSG: 0 Vector__XXX", ' SG_ Lost : 0|8@1+ (1,0) [0|0] "" A']
    lines += ["", 'CM_ "a network";', 'CM_ BU_ A "a node";', 'BA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;',
              'BA_DEF_DEF_ "GenMsgCycleTime" 100;']
    return "\r\n".join(lines + extra) + "\r\n"
