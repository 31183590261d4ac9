/** `npm pack` runs this: makes `dist` of `../src/verify`, and puts the sources beside it for whoever reads them; `--clean` removes both. */
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

for (const folder of ['dist', 'src']) rmSync(here(folder), { recursive: true, force: true })
if (!process.argv.includes('--clean')) {
  execFileSync(here('../node_modules/.bin/tsc'), ['--project', here('tsconfig.json')], { stdio: 'inherit' })
  cpSync(here('../src/verify'), here('src'), { recursive: true })
}
