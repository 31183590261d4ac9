/** The command line as an operator has it: a process of its own, beside the gateways. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export interface Said {
  code: number
  stdout: string
  stderr: string
}

export type Command = (...args: string[]) => Promise<Said>

/** Carries out `annal <args>` with this environment. */
export const runCommand = (env: Record<string, string>, args: readonly string[]): Promise<Said> =>
  new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', HOME: env.ANNAL_DIR!, ...env }, maxBuffer: 64_000_000 }
    const command = ['--disable-warning=ExperimentalWarning', join(root, 'src/cli.ts'), ...args]
    execFile(process.execPath, command, options, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr }),
    )
  })
