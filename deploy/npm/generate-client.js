/** Generates Prisma's client and Pothos' types into `src/platform/prisma`. Works offline and on Node 20. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const command = join(root, 'node_modules/prisma/build/index.js')

/** False in an installed package, which contains the generated client, and where development dependencies are omitted. */
export const canGenerateClient = existsSync(join(root, 'prisma/schema.prisma')) && existsSync(command)

export function generateClient() {
  execFileSync(process.execPath, [command, 'generate', '--no-hints'], {
    cwd: root,
    stdio: 'pipe',
    env: {
      ...process.env,
      // Prisma finds Pothos' generator by the search path.
      PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      // `generate` does not use the schema engine, but would download it. Any existing file prevents the download.
      PRISMA_SCHEMA_ENGINE_BINARY: join(root, 'package.json'),
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) generateClient()
