/**
 * `npm pack` runs this: what the package holds besides what stands in the repository. `dist` is the service as JavaScript, laid out as
 * the repository, because Node strips no types below `node_modules`; `npm-shrinkwrap.json` is what `package-lock.json` says of
 * production, so that whoever installs the package gets the versions that were tested. See decision 24.
 *
 *     node deploy/npm/build.ts              makes both
 *     node deploy/npm/build.ts --clean      removes both; a shrinkwrap that stays would be taken for the lock file
 */
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Lock, productionOf } from './production-packages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const shrinkwrap = join(root, 'npm-shrinkwrap.json')

function clean(): void {
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  rmSync(shrinkwrap, { force: true })
}

function build(): void {
  execFileSync('tsc', ['--project', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
  // What the sources read beside themselves.
  for (const folder of ['src', 'prisma/migrations']) {
    const isRead = (name: string) => !/\.(ts|sol)$/.test(name)
    cpSync(join(root, folder), join(root, 'dist', folder), { recursive: true, filter: isRead })
  }
}

function writeShrinkwrap(): void {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  writeFileSync(shrinkwrap, `${JSON.stringify(productionOf(lock), null, 2)}\n`)
}

clean()
if (!process.argv.includes('--clean')) {
  build()
  writeShrinkwrap()
}
