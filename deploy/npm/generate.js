/**
 * Generates the sources that are not committed: the database client, the types of the GraphQL operations, and the
 * OpenAPI document. Also writes `schema.graphql`. Works offline.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const modules = join(root, 'node_modules')
// npm may run this file on Node 20, which does not strip types.
const node = join(modules, 'node/bin/node')

const codegen = ['@graphql-codegen/cli/cjs/bin.js', '--config', 'src/http/rest/codegen.ts', '--silent']
const steps = [
  ['prisma/build/index.js', 'generate', '--no-hints'],
  // In a fresh checkout, the modules that print the schema need the types of the committed schema.
  ...(existsSync(join(root, 'src/http/rest/generated')) ? [] : [codegen]),
  ['../src/graphql/print-schema.ts'],
  codegen,
  ['../src/http/openapi/print-openapi.ts'],
]

/** False in an installed package, which contains the generated sources but no development dependencies. */
export const canGenerate = existsSync(join(root, 'prisma/schema.prisma')) && existsSync(join(modules, 'prisma'))

export function generate() {
  for (const [file, ...args] of steps) {
    execFileSync(existsSync(node) ? node : process.execPath, [join(modules, file), ...args], {
      cwd: root,
      stdio: 'pipe',
      env: {
        ...process.env,
        // Prisma finds Pothos' generator by the search path.
        PATH: [join(modules, '.bin'), process.env.PATH].join(delimiter),
        // `prisma generate` does not use the schema engine, but would download it. Any existing file prevents the download.
        PRISMA_SCHEMA_ENGINE_BINARY: join(root, 'package.json'),
        PRISMA_HIDE_UPDATE_MESSAGE: '1',
      },
    })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) generate()
