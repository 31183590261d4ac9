/** Runs a function before each removal, rename or link of a file in this process. */
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

export interface BeforeFiles {
  rm(path: string): Promise<void>
  rename(from: string): Promise<void>
  link(from: string): Promise<void>
  stop(): void
}

export function beforeFiles(): BeforeFiles {
  const { rm, rename, link } = promises
  const before: BeforeFiles = {
    rm: async () => {},
    rename: async () => {},
    link: async () => {},
    stop() {
      Object.assign(promises, { rm, rename, link })
      syncBuiltinESMExports()
    },
  }
  Object.assign(promises, {
    rm: async (path: string, ...rest: []) => {
      await before.rm(path)
      return rm(path, ...rest)
    },
    rename: async (from: string, to: string) => {
      await before.rename(from)
      return rename(from, to)
    },
    link: async (from: string, to: string) => {
      await before.link(from)
      return link(from, to)
    },
  })
  syncBuiltinESMExports()
  return before
}
