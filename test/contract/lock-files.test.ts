/** Every package in every lock file has a hash, including the packages for other operating systems. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const isElsewhere = (path: string) => /(^|[\\/])(node_modules|\.[^\\/]+)$/.test(path)
const lockFiles = globSync('**/package-lock.json', { cwd: ROOT, exclude: isElsewhere })

interface Locked {
  integrity?: string
  link?: boolean
}

it.each(lockFiles)('the lock file %s contains the hash of every downloaded package', (file) => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { packages: Record<string, Locked> }
  const bare = Object.entries(packages).filter(
    ([path, { integrity, link }]) => path.includes('node_modules/') && !link && !integrity,
  )
  const paths = bare.map(([path]) => path)
  expect(paths, 'npm view <name>@<version> dist.integrity tells it').toEqual([])
})
