/**
 * `npm run generate:prisma`: Prisma's client and the types for Pothos in `src/platform/prisma`, from `schema.prisma`. They are
 * committed, so that neither a developer who leaves the schema alone nor production installs Prisma's command line (195 MB); it
 * is installed into `prisma/cli` when there is something to generate. See decision 29.
 *
 *     node prisma/generate.ts            generates unless what is there is of this schema
 *     node prisma/generate.ts --check    exits with 1 unless what is there is of this schema
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../package.json' with { type: 'json' }
import cli from './cli/package.json' with { type: 'json' }

const root = fileURLToPath(new URL('..', import.meta.url))
const cliFolder = join(root, 'prisma/cli')
const generatedFolder = join(root, 'src/platform/prisma')
/** What the generated files were made from, and what they are; a merge of two changes of the schema conflicts here, too. */
const stampFile = join(root, 'prisma/generated.json')

const sha256 = (texts: readonly string[]) => {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}\n${text}`)
  return hash.digest('hex')
}

const read = (file: string) => readFileSync(file, 'utf8')

/** The two hashes of the stamp: of all that decides what is generated, and of what was. */
function stamp(): string {
  const { '@prisma/client': client, '@pothos/plugin-prisma': pothos } = manifest.dependencies
  const from = sha256([read(join(root, 'prisma/schema.prisma')), cli.dependencies.prisma, client, pothos])
  const files = globSync('**/*.ts', { cwd: generatedFolder }).sort()
  const generated = sha256(files.flatMap((file) => [file.replaceAll('\\', '/'), read(join(generatedFolder, file))]))
  return `${JSON.stringify({ from, generated }, null, 2)}\n`
}

/** Whether the generated files are those of `schema.prisma`, of the versions of Prisma and Pothos that are asked for, and untouched. */
export const isGenerated = (): boolean => existsSync(stampFile) && read(stampFile) === stamp()

const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  execFileSync(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] })

function installCli(): void {
  const installed = join(cliFolder, 'node_modules/prisma/package.json')
  if (existsSync(installed) && JSON.parse(read(installed)).version === cli.dependencies.prisma) return
  run('npm', ['ci', '--prefix', cliFolder, '--ignore-scripts', '--no-audit', '--no-fund'])
}

function generate(): void {
  installCli()
  // Pothos' generator is found by the search path. The client needs no schema engine, which would be downloaded: any file stands in for it.
  run(join(cliFolder, 'node_modules/.bin/prisma'), ['generate', '--no-hints'], {
    PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    PRISMA_SCHEMA_ENGINE_BINARY: join(root, 'package.json'),
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  })
  writeFileSync(stampFile, stamp())
}

if (import.meta.main) {
  if (isGenerated()) process.exit()
  if (process.argv.includes('--check')) {
    process.stderr.write('src/platform/prisma is not what schema.prisma generates. Run: npm run generate:prisma\n')
    process.exit(1)
  }
  generate()
}
