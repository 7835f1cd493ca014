// Nothing: the entry point is called by nobody but the linker.
