"""Which nominal values have a place of their own, from docs/data.md, "Names without limit", row by row."""

FIRST = 4
MOST = 256
REMEMBERED = 1024


class Column:
    """One nominal column: its values with places, and those that came once, oldest first."""

    def __init__(self):
        self.own = []
        self.once = []

    def see(self, value):
        """The place of a value in a row, or None if it shares one."""
        if value not in self.own:
            if len(self.own) < FIRST or (len(self.own) < MOST and value in self.once):
                self.own.append(value)
            elif value not in self.once and len(self.own) < MOST:
                self.once.append(value)
                if len(self.once) > REMEMBERED:
                    self.once.pop(0)
        return self.own.index(value) if value in self.own else None


CRC = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0xEDB88320 if byte & 1 else 0)
    CRC.append(byte)


def crc32(data):
    """The cyclic redundancy check of zip files, byte by byte."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def number(name, value):
    """The number of a value or word."""
    return crc32(name.encode() + b"\0" + value.encode())


def words(text):
    """Runs of letters, digits and underscores in small letters, each once."""
    found, word = [], ""
    for letter in text.casefold() + " ":
        if letter.isalnum() or letter == "_":
            word += letter
        elif word:
            if word not in found:
                found.append(word)
            word = ""
    return found
