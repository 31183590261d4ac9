import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** File that names the vault in the installation's folder `dir`. */
export const vaultIdFile = (dir: string): string => join(dir, 'keys', 'vault-id')

/** Returns the identity of the vault in the installation's folder `dir`. Undefined where there is none. */
export function readVaultId(dir: string): string | undefined {
  try {
    return readFileSync(vaultIdFile(dir), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
