import GRDB

/// The tables of the books, in the aggregator's own file. What must never be is refused by the database
/// itself.
enum BooksTables {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("books1") { database in
            try database.execute(sql: registry)
            try database.execute(sql: meters)
            try database.execute(sql: ledger)
            try database.execute(sql: settlement)
            try database.execute(sql: history)
        }
        migrator.registerMigration("books2") { try $0.execute(sql: BooksViews.tables) }
        migrator.registerMigration("books3") { database in
            try database.execute(sql: later)
            try database.execute(sql: BooksViews.trader)
        }
        migrator.registerMigration("books4") { try $0.execute(sql: records) }
        migrator.registerMigration("books5") { database in
            try database.execute(sql: membership)
            try database.execute(sql: RecordNotes.table)
            try RecordNotes.adopt(database)
        }
        migrator.registerMigration("books6") { try $0.execute(sql: ErasedWords.table) }
        migrator.registerMigration("booksDue") { try $0.execute(sql: AutomaticContracts.table) }
        migrator.registerMigration("booksTransfers") { try TransferNotes.adopt($0) }
        migrator.registerMigration("booksEscrow") { try BillRows.tellEscrow($0) }
        return migrator
    }

    /// Who there is and what they have; documents stand as they were given.
    private static let registry = """
        CREATE TABLE books_party (
            id TEXT PRIMARY KEY, name TEXT NOT NULL, owners TEXT NOT NULL, address TEXT,
            is_listed INTEGER NOT NULL, erased_s INTEGER) STRICT, WITHOUT ROWID;
        CREATE TABLE books_zone (
            id TEXT PRIMARY KEY, grid TEXT NOT NULL REFERENCES books_party, operator TEXT NOT NULL
            REFERENCES books_party, block_s INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE books_resource (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, party TEXT NOT NULL REFERENCES books_party,
            zone TEXT NOT NULL REFERENCES books_zone, kind TEXT NOT NULL, export_max_w INTEGER NOT NULL,
            demand_w INTEGER, place TEXT NOT NULL, state TEXT NOT NULL, maintained_on TEXT,
            next_maintenance_on TEXT, source TEXT UNIQUE) STRICT;
        CREATE TABLE books_contract (
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, seller TEXT NOT NULL REFERENCES books_party,
            buyer TEXT NOT NULL REFERENCES books_party, resource TEXT NOT NULL REFERENCES books_resource (id),
            from_s INTEGER NOT NULL, until_s INTEGER NOT NULL, energy_wh INTEGER NOT NULL,
            price INTEGER NOT NULL, penalty INTEGER NOT NULL, payment TEXT NOT NULL, traded_s INTEGER NOT NULL,
            is_automatic INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE books_contract_event (
            contract TEXT NOT NULL REFERENCES books_contract, n INTEGER NOT NULL, event TEXT NOT NULL,
            at_s INTEGER NOT NULL, who TEXT NOT NULL, PRIMARY KEY (contract, n)) STRICT, WITHOUT ROWID;
        CREATE TABLE books_reserved (
            resource TEXT NOT NULL, start_s INTEGER NOT NULL, contract TEXT NOT NULL, energy_wh INTEGER NOT NULL,
            PRIMARY KEY (resource, start_s, contract)) STRICT, WITHOUT ROWID;
        CREATE TABLE books_document (
            kind TEXT NOT NULL, n INTEGER NOT NULL, text TEXT NOT NULL, at_s INTEGER NOT NULL,
            who TEXT NOT NULL, PRIMARY KEY (kind, n)) STRICT, WITHOUT ROWID;
        """

    private static let meters = """
        CREATE TABLE books_series (
            resource INTEGER NOT NULL REFERENCES books_resource, kind TEXT NOT NULL, length_s INTEGER NOT NULL,
            PRIMARY KEY (resource, kind)) STRICT, WITHOUT ROWID;
        CREATE TABLE books_interval (
            resource INTEGER NOT NULL REFERENCES books_resource, kind TEXT NOT NULL, start_s INTEGER NOT NULL,
            revision INTEGER NOT NULL CHECK (revision >= 0), import_wh INTEGER NOT NULL CHECK (import_wh >= 0),
            export_wh INTEGER NOT NULL CHECK (export_wh >= 0), is_measured INTEGER NOT NULL,
            is_production INTEGER NOT NULL, record TEXT NOT NULL,
            PRIMARY KEY (resource, kind, start_s, revision)) STRICT, WITHOUT ROWID;
        CREATE TABLE books_register (
            resource INTEGER NOT NULL REFERENCES books_resource, meter TEXT NOT NULL, at_s INTEGER NOT NULL,
            import_wh INTEGER NOT NULL, export_wh INTEGER NOT NULL,
            PRIMARY KEY (resource, meter, at_s)) STRICT, WITHOUT ROWID;
        CREATE TABLE books_feed (row INTEGER NOT NULL, taken INTEGER NOT NULL, simulated INTEGER NOT NULL) STRICT;
        INSERT INTO books_feed VALUES (0, 0, 0);
        """

    /// Postings come before their transfer, which is a promise that the commit checks; the transfer's row is
    /// only taken where they sum to zero, and nothing of either ever changes.
    private static let ledger = """
        CREATE TABLE books_account (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, asset TEXT NOT NULL, party TEXT, floor INTEGER,
            balance INTEGER NOT NULL DEFAULT 0, held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
            UNIQUE (name, asset), CHECK (floor IS NULL OR balance - held >= floor)) STRICT;
        CREATE INDEX books_account_party ON books_account (party);
        CREATE TABLE books_transfer (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, at_s INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
        CREATE TABLE books_posting (
            transfer INTEGER NOT NULL REFERENCES books_transfer DEFERRABLE INITIALLY DEFERRED,
            leg INTEGER NOT NULL, account INTEGER NOT NULL REFERENCES books_account, amount INTEGER NOT NULL,
            PRIMARY KEY (transfer, leg)) STRICT, WITHOUT ROWID;
        CREATE TRIGGER books_posting_late BEFORE INSERT ON books_posting
            WHEN EXISTS (SELECT 1 FROM books_transfer WHERE id = NEW.transfer)
            BEGIN SELECT RAISE(ABORT, 'a posted transfer takes no more postings'); END;
        CREATE TRIGGER books_posting_counts AFTER INSERT ON books_posting
            BEGIN UPDATE books_account SET balance = balance + NEW.amount WHERE id = NEW.account; END;
        CREATE TRIGGER books_posting_stays BEFORE UPDATE ON books_posting
            BEGIN SELECT RAISE(ABORT, 'a posting never changes'); END;
        CREATE TRIGGER books_posting_remains BEFORE DELETE ON books_posting
            BEGIN SELECT RAISE(ABORT, 'a posting never goes'); END;
        CREATE TRIGGER books_transfer_balances BEFORE INSERT ON books_transfer
            WHEN (SELECT count(*) FROM books_posting WHERE transfer = NEW.id) < 2 OR EXISTS (
                SELECT 1 FROM books_posting JOIN books_account ON books_account.id = account
                WHERE transfer = NEW.id GROUP BY asset HAVING sum(amount) <> 0)
            BEGIN SELECT RAISE(ABORT, 'the postings of a transfer sum to zero for each asset'); END;
        CREATE TRIGGER books_transfer_stays BEFORE UPDATE ON books_transfer
            BEGIN SELECT RAISE(ABORT, 'a transfer never changes'); END;
        CREATE TRIGGER books_transfer_remains BEFORE DELETE ON books_transfer
            BEGIN SELECT RAISE(ABORT, 'a transfer never goes'); END;
        """

    private static let settlement = """
        CREATE TABLE books_run (
            id TEXT PRIMARY KEY, n INTEGER NOT NULL UNIQUE, from_s INTEGER NOT NULL, until_s INTEGER NOT NULL,
            at_s INTEGER NOT NULL, due_s INTEGER NOT NULL, settled INTEGER NOT NULL, corrected INTEGER NOT NULL,
            open INTEGER NOT NULL, tariffs INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE books_line (
            run INTEGER NOT NULL, n INTEGER NOT NULL, id TEXT NOT NULL UNIQUE, party TEXT NOT NULL,
            kind TEXT NOT NULL, reference TEXT NOT NULL, price INTEGER NOT NULL, adjusts TEXT NOT NULL,
            from_s INTEGER NOT NULL, until_s INTEGER NOT NULL, quantity_wh INTEGER NOT NULL,
            exact TEXT NOT NULL, amount INTEGER NOT NULL, PRIMARY KEY (run, n)) STRICT, WITHOUT ROWID;
        CREATE INDEX books_line_party ON books_line (party, run);
        CREATE TABLE books_block (
            run INTEGER NOT NULL, zone TEXT NOT NULL, start_s INTEGER NOT NULL, export_wh INTEGER NOT NULL,
            import_wh INTEGER NOT NULL, grid_wh INTEGER NOT NULL, losses_wh INTEGER NOT NULL,
            entries BLOB NOT NULL,
            PRIMARY KEY (zone, start_s, run)) STRICT, WITHOUT ROWID;
        CREATE TABLE books_open (
            run INTEGER NOT NULL, zone TEXT NOT NULL, start_s INTEGER NOT NULL, lacks TEXT NOT NULL,
            PRIMARY KEY (run, zone, start_s)) STRICT, WITHOUT ROWID;
        CREATE TABLE books_bill (
            id TEXT PRIMARY KEY, run INTEGER NOT NULL, party TEXT NOT NULL, total INTEGER NOT NULL,
            paid INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
        CREATE INDEX books_bill_party ON books_bill (party, run);
        CREATE TABLE books_certificate (
            resource TEXT NOT NULL, start_s INTEGER NOT NULL, energy_wh INTEGER NOT NULL CHECK (energy_wh >= 0),
            owner TEXT NOT NULL, state TEXT NOT NULL, run INTEGER NOT NULL,
            PRIMARY KEY (start_s, resource)) STRICT, WITHOUT ROWID;
        CREATE TRIGGER books_certificate_rests BEFORE UPDATE ON books_certificate WHEN OLD.state = 'retired'
            BEGIN SELECT RAISE(ABORT, 'a retired certificate never moves'); END;
        """

    /// Cooperatives, contracts paid in satoshi, holds, batches, and what came late.
    private static let later = """
        ALTER TABLE books_zone ADD COLUMN cooperative TEXT;
        ALTER TABLE books_contract ADD COLUMN asset TEXT NOT NULL DEFAULT 'INR';
        CREATE TABLE books_terms (
            contract TEXT NOT NULL REFERENCES books_contract, version INTEGER NOT NULL,
            energy_wh INTEGER NOT NULL, price INTEGER NOT NULL, at_s INTEGER NOT NULL,
            PRIMARY KEY (contract, version)) STRICT, WITHOUT ROWID;
        INSERT INTO books_terms SELECT id, 1, energy_wh, price, traded_s FROM books_contract;
        CREATE TABLE books_escrow (
            contract TEXT PRIMARY KEY REFERENCES books_contract, paid INTEGER NOT NULL CHECK (paid > 0),
            satoshi INTEGER NOT NULL CHECK (satoshi > 0)) STRICT, WITHOUT ROWID;
        CREATE TABLE books_hold (
            id TEXT PRIMARY KEY, party TEXT NOT NULL REFERENCES books_party, asset TEXT NOT NULL,
            amount INTEGER NOT NULL CHECK (amount > 0), text TEXT NOT NULL, at_s INTEGER NOT NULL,
            state TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX books_hold_party ON books_hold (party);
        CREATE TABLE books_batch (
            id TEXT PRIMARY KEY, resource TEXT NOT NULL REFERENCES books_resource (id),
            from_s INTEGER NOT NULL, until_s INTEGER NOT NULL, owners TEXT NOT NULL, at_s INTEGER NOT NULL,
            shared INTEGER) STRICT, WITHOUT ROWID;
        CREATE TABLE books_late (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, zone TEXT NOT NULL, start_s INTEGER NOT NULL,
            resource TEXT NOT NULL, at_s INTEGER NOT NULL) STRICT;
        CREATE TABLE books_frozen (before_s INTEGER NOT NULL) STRICT;
        INSERT INTO books_frozen VALUES (0);
        CREATE INDEX books_resource_party ON books_resource (party);
        CREATE TABLE books_settling (from_s INTEGER NOT NULL, until_s INTEGER NOT NULL) STRICT;
        CREATE TABLE books_pending (
            run INTEGER NOT NULL, n INTEGER NOT NULL, key TEXT NOT NULL, at_s INTEGER NOT NULL,
            text TEXT NOT NULL, postings TEXT NOT NULL, PRIMARY KEY (run, n)) STRICT, WITHOUT ROWID;
        """

    /// Which event of the history brought an interval; those from before it was noted have none.
    private static let records = """
        ALTER TABLE books_interval ADD COLUMN event INTEGER;
        CREATE INDEX books_interval_event ON books_interval (event);
        """

    /// From when on a resource belongs to its zone (nothing = always did); and whether an admin set a hold.
    private static let membership = """
        ALTER TABLE books_resource ADD COLUMN from_s INTEGER;
        ALTER TABLE books_hold ADD COLUMN is_office INTEGER NOT NULL DEFAULT 0;
        """

    private static let history = """
        CREATE TABLE books_event (
            seq INTEGER PRIMARY KEY, at_s INTEGER NOT NULL, who TEXT NOT NULL, kind TEXT NOT NULL,
            data TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
        CREATE TABLE books_answer (
            who TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, status INTEGER NOT NULL,
            answer TEXT NOT NULL, at_s INTEGER NOT NULL, PRIMARY KEY (who, key)) STRICT, WITHOUT ROWID;
        CREATE TRIGGER books_answer_stays BEFORE UPDATE ON books_answer
            BEGIN SELECT RAISE(ABORT, 'a key has one answer'); END;
        CREATE TABLE books_day (
            day_s INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, root TEXT NOT NULL) STRICT;
        """
}
