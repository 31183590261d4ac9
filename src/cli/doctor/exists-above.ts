import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

/** The path, or the nearest folder above it that is there. */
export const existsAbove = (path: string): string => (existsSync(path) ? path : existsAbove(dirname(path)))
