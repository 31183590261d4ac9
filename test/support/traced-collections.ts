/** Preloaded into a program. V8 then prints each garbage collection to stdout. */
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--trace-gc-nvp')
