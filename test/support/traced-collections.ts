/** Loaded before a program: has V8 tell on stdout what each collection of garbage did. */
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--trace-gc-nvp')
