"""How kernels become machine code, and how Python hands a model's arrays to them.

Where to look:

    compile.py   the decorators that mark a function as a kernel
    aside.py     compiling in a thread of its own, which no interrupt reaches
    linking.py   inner kernels stay LLVM's intermediate code; only what Python calls becomes machine code
    border.py    named tuples of arrays, handed over by address and read by name
    store.py     where machine code is kept: in the user's cache, or in the wheel
    sources.py   what a kernel of one's own is made of, so that an edit is noticed
    shipped.py   the machine code that a wheel carries
    rng.py       keyed random numbers
"""
