/**
 * After an installation: removes what nothing here reads from packages that it brought, some 145 MB. Only where they are there for Annal
 * alone: in a clone, an installation by itself, or a project that depends on nothing else. Runs on Node 20, before anything else of ours.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What is needless of which folder, and why. */
const needless = [
  // Node's headers serve to compile addons. One folder for each platform that Node was brought for.
  { folder: 'node/node_modules/*', names: /^(include|share)$/ },
  // Prisma brings its query compiler in two sizes for five databases, and for runtimes without a file system.
  {
    folder: '@prisma/client/runtime',
    names: /^(query_compiler_(small_bg|\w+_bg\.(cockroachdb|mysql|sqlite|sqlserver))|wasm-compiler-edge)\./,
  },
  // What browsers load by itself, and what its modules were made from.
  { folder: 'ethers', names: /^(dist|src\.ts)$/ },
  ...['@aws-sdk/*', '@smithy/*'].map((folder) => ({ folder, names: /^dist-es$/ })),
]
/** What serves development alone, though something here says that it could use it: Prisma would take the compiler's types. */
const ofDevelopment = [
  { folder: '@typescript/*', names: /./ },
  // The same again for who requires it: nobody does.
  { folder: 'ethers', names: /^lib\.commonjs$/ },
  ...['@aws-sdk/*', '@smithy/*'].map((folder) => ({ folder, names: /^dist-types$/ })),
]

const own = fileURLToPath(new URL('../..', import.meta.url))
const above = resolve(own, '..')
const isDependency = basename(above) === 'node_modules' && !existsSync(join(own, 'node_modules'))
/** What we depend on for development is not brought where others depend on us. */
const isForDevelopment = !isDependency && !(process.env.npm_config_omit ?? '').split(/\s+/).includes('dev')
const modules = isDependency ? above : join(own, 'node_modules')

/** Whether whoever depends on us depends on nothing else. */
function isAlone() {
  const manifest = resolve(above, '../package.json')
  if (!isDependency || !existsSync(manifest)) return true
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync(manifest, 'utf8'))
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).every((name) => name === 'annal')
}

/** The folders that a path means, whose last part may be a star. */
function foldersOf(path) {
  if (!path.endsWith('/*')) return [join(modules, path)]
  const parent = join(modules, path.slice(0, -2))
  if (!existsSync(parent)) return []
  const entries = readdirSync(parent, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(parent, name))
}

if (isAlone()) {
  for (const { folder, names } of isForDevelopment ? needless : [...needless, ...ofDevelopment]) {
    for (const each of foldersOf(folder).filter((path) => existsSync(path))) {
      for (const name of readdirSync(each))
        if (names.test(name)) rmSync(join(each, name), { recursive: true, force: true })
    }
  }
}
