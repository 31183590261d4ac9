/** `npm pack` runs this. It compiles `src` to `dist`; `--clean` removes `dist`. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

rmSync(here('dist'), { recursive: true, force: true })
if (!process.argv.includes('--clean')) {
  execFileSync(here('../../node_modules/.bin/tsc'), ['--project', here('tsconfig.json')], { stdio: 'inherit' })
}
