"""Print how much of the STM32F103C8's memory a build uses, from `size -A` on standard input. Exit 1 if too much."""

import sys

FLASH_BYTES, RAM_BYTES = 64 * 1024, 20 * 1024

sections = {}
for line in sys.stdin:
    name, *rest = line.split() or [""]
    if name.startswith(".") and len(rest) == 2:
        sections[name] = int(rest[0])
flash = sections[".text"] + sections.get(".ARM.exidx", 0) + sections[".data"]
ram = sections[".stack"] + sections[".data"] + sections[".bss"]
print(f"flash {flash} of {FLASH_BYTES} bytes, RAM {ram} of {RAM_BYTES} bytes, {sections['.stack']} of it stack")
sys.exit(flash > FLASH_BYTES or ram > RAM_BYTES)
