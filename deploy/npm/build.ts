/**
 * Compiles the service to JavaScript in `dist`, because Node does not strip types below `node_modules`. Also builds the
 * documentation site. `npm pack` runs this file.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = join(root, 'dist')

execFileSync(process.execPath, [join(import.meta.dirname, 'generate.js')], { stdio: 'inherit' })
rmSync(dist, { recursive: true, force: true })
execFileSync('tsc', ['--project', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
execFileSync('vitepress', ['build', 'docs', '--outDir', 'dist/dist-docs'], { cwd: root, stdio: 'inherit' })
// Files that the sources read at run time.
for (const folder of ['src', 'prisma/migrations']) {
  const isRead = (name: string) => !/\.(ts|sol)$/.test(name)
  cpSync(join(root, folder), join(dist, folder), { recursive: true, filter: isRead })
}
