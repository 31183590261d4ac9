/**
 * `npm pack` runs this: makes `dist`, the service as JavaScript, laid out as the repository, because Node strips no types below
 * `node_modules`. See decision 29.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
execFileSync('tsc', ['--project', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
// What the sources read beside themselves.
for (const folder of ['src', 'prisma/migrations']) {
  const isRead = (name: string) => !/\.(ts|sol)$/.test(name)
  cpSync(join(root, folder), join(dist, folder), { recursive: true, filter: isRead })
}
