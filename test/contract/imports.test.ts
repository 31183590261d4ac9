/** Checks the import rules of `docs/architecture.md`. Each message says what to do instead. */
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }

const root = new URL('../../', import.meta.url)
const isGenerated = (file: string) => /^(platform\/prisma|(rest|pages)\/generated)\//.test(file)
const files = globSync('**/*.ts', { cwd: new URL('src', root) })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !isGenerated(file))
  .sort()
const read = (file: string, folder = 'src/') => readFileSync(new URL(folder + file, root), 'utf8')

interface Import {
  target: string
  specifier: string
  isLocal: boolean
  isTypeOnly: boolean
}

const STATEMENT = /^\s*(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s*)?'([^']+)'/gm
const DYNAMIC = /\bimport\(\s*'([^']+)'\s*\)/g

function importsOf(file: string, folder?: string): Import[] {
  const text = read(file, folder)
  const found = [
    ...[...text.matchAll(STATEMENT)].map(([, type, specifier]) => ({
      specifier: specifier!,
      isTypeOnly: Boolean(type),
    })),
    ...[...text.matchAll(DYNAMIC)].map(([, specifier]) => ({ specifier: specifier!, isTypeOnly: false })),
  ]
  return found.map(({ specifier, isTypeOnly }) => {
    const isLocal = specifier.startsWith('.')
    const target = isLocal ? posix.normalize(posix.join(posix.dirname(file), specifier)) : specifier
    return { target, specifier, isLocal, isTypeOnly }
  })
}

interface Rule {
  local: RegExp
  types?: RegExp
  packages?: RegExp
  instead: string
}

const ports =
  'domain/(ports/[a-z-]+|errors|explain-error|actor|ids|jobs|keyset-pages|lazily|log-throttle|money|read-position|roles|settings|sql|telemetry)\\.ts'
const prismaTypes = /^platform\/prisma\//
const domainTypes = /^(platform\/prisma\/|verify\/(verification|finding)\.ts$)/
const commitRules = 'domain/asset/(commit-data|fail-commit|open-relays-sql)\\.ts'
const eventRule = 'domain/event/event-sql\\.ts'
const internalAddress = 'domain/store/internal-address\\.ts'
const language = 'domain/language\\.ts'
const locales = 'locales/messages\\.ts'
const fileName = 'domain/file-name\\.ts'
const fileTypes = 'domain/asset/file-types\\.ts'
const canonicalCid = 'verify/canonical-cid\\.ts'
const batch = 'domain/batch\\.ts'
const localSocket = 'platform/local-socket\\.ts'
const readAtMost = 'platform/read-at-most\\.ts'
const headers = 'platform/http/headers\\.ts'
const staticFile = 'platform/http/static-file\\.ts'
const folderOwner = 'platform/folder-owner\\.ts'
const databaseClient = 'platform/database/database-client\\.ts'

const rules: Record<string, Rule> = {
  domain: {
    local: new RegExp(`^(domain/|${canonicalCid})`),
    types: domainTypes,
    packages: /^(zod|@formatjs\/intl-localematcher|mime|rate-limiter-flexible|node:(crypto|timers\/promises))$/,
    instead:
      'Put what the rule needs from the world behind an interface in domain/ports/, and hand the part in through createX(deps).',
  },
  chain: {
    local: new RegExp(`^(chain/|${ports}|${commitRules}|${eventRule}|${localSocket}|${readAtMost}|${databaseClient})`),
    packages: /^/,
    instead: 'Describe what you need in domain/ports/; app.ts and installation.ts join the parts.',
  },
  files: {
    local: new RegExp(`^(files/|${ports}|${fileName}|${fileTypes}|${canonicalCid}|${headers}|${folderOwner})`),
    packages: /^(?!ethers$)/,
    instead: 'Describe what you need in domain/ports/; app.ts and installation.ts join the parts.',
  },
  delivery: {
    local: new RegExp(`^(delivery/|${ports}|${internalAddress}|${language}|${locales})`),
    packages: /^(?!ethers$)/,
    instead: 'Describe what you need in domain/ports/; app.ts and installation.ts join the parts.',
  },
  locales: {
    local: /^(locales\/|domain\/language\.ts$)/,
    packages: /^$/,
    instead: 'Texts depend on nothing but the language.',
  },
  platform: {
    local: new RegExp(`^(platform/|${ports}|${batch}|${fileTypes}|domain/total\\.ts$)`),
    packages: /^(?!ethers$)/,
    instead: 'Describe what you need in domain/ports/; app.ts and installation.ts join the parts.',
  },
  graphql: {
    local: new RegExp(`^(graphql/|domain/|context\\.ts$|${headers}|${staticFile})`),
    types: domainTypes,
    packages: /^(graphql|graphql-[\w-]+|@graphql-tools\/executor|@pothos\/.+|@graphql-yoga\/.+|lru-cache|node:.+)$/,
    instead: 'Call a service through the context; a resolver takes args, makes one call and returns.',
  },
  rest: {
    local:
      /^(rest\/|platform\/http\/(headers|static-file)\.ts$|context\.ts$|domain\/(errors|json-input|lazily|page|parse-moment|policy|money|read-position|telemetry|total|asset\/(file-types|metadata|uploads)|store\/webhook-bodies)\.ts$|graphql\/(file-upload|lagging|mask-error|stale-token)\.ts$)/,
    types: /^pages\/page\.ts$/,
    packages:
      /^(@scalar\/fastify-api-reference|fastify|graphql|graphql-upload-ts|@graphql-typed-document-node\/core|zod|node:.+)$/,
    instead:
      'A route executes an operation: put the rule into a service, show it in the schema, and select it in the document.',
  },
  pages: {
    local:
      /^(pages\/|locales\/|context\.ts$|domain\/(asset\/file-types|errors|ids|language|telemetry|total)\.ts$|platform\/http\/headers\.ts$)/,
    packages: /^(hono\/.+|@graphql-typed-document-node\/core|node:.+)$/,
    instead: 'Execute an operation, or call a service through the context.',
  },
  // A stranger reads it to the end: it knows nothing of the service, and has a package of its own (verify/package.json).
  verify: {
    local: /^verify\//,
    packages: /^(@ethereumjs\/mpt|@ipld\/car\/.+|@ipld\/dag-pb|ethers|multiformats(\/.+)?|node:.+)$/,
    instead: 'The verifier reads bytes itself, and trusts nothing of the service: hand in what it asks for.',
  },
  'own-history.ts': {
    local: /^(chain\/(registry\/registry|rpc)\.ts|domain\/|verify\/)/,
    instead: 'It hands the verifier what it asks for, and judges nothing.',
  },
  'context.ts': { local: /^domain\//, instead: 'The context is types of the domain and nothing else.' },
  'request-context.ts': {
    local: /^(context\.ts$|domain\/)/,
    packages: /^node:http$/,
    instead: 'It reads headers: put rules into the domain.',
  },
  // How an amount, and how a database's URL is written is one rule.
  'config.ts': {
    local: /^(config\/|domain\/(limits|roles)\.ts$)/,
    packages: /^(zod|node:.+)$/,
    instead: 'The configuration knows no part; hand its values to the parts.',
  },
  config: {
    local: /^(config\/|domain\/(limits|money|roles)\.ts$|platform\/database\/parse-database-url\.ts$)/,
    packages: /^(zod|node:.+)$/,
    instead: 'The configuration knows no part; hand its values to the parts.',
  },
  'app.ts': {
    local: /^(?!app\.ts|installation\.ts|main\.ts|cli\.ts)/,
    packages: /^(fastify$|node:)/,
    instead: 'app.ts joins parts that it is given: put the work into the part.',
  },
  'services.ts': {
    local: /^(chain|files|delivery|platform|domain|verify|config\.ts|context\.ts|own-history\.ts)/,
    packages: /^node:/,
    instead: 'services.ts joins what works without the doors; what serves requests belongs into app.ts.',
  },
  'loops.ts': {
    local: /^(connect-chain\.ts$|domain\/|platform\/jobs\/|installation\.ts$|services\.ts$)/,
    instead: 'loops.ts says what is started for which role: put the work into a service or a part.',
  },
  'connect-chain.ts': {
    local: /^(chain|domain|platform\/embedded)\/|^(config|installation|own-history)\.ts$/,
    instead: 'It joins what writes to the chain and reads it: put the work into chain/.',
  },
  'installation.ts': {
    local: /^(chain|files|delivery|platform|domain|config\.ts)/,
    packages: /^node:/,
    instead: 'installation.ts opens the parts below the app; what serves requests belongs into app.ts.',
  },
  'announce.ts': { local: /^(domain\/roles|installation)\.ts$/, packages: /^node:fs$/, instead: 'It only tells.' },
  'run-process.ts': {
    local: /^(?!main\.ts|cli\.ts)/,
    packages: /^node:/,
    instead: 'run-process.ts only starts and stops: put the work into app.ts or a part.',
  },
  'main.ts': {
    local: /^(?!main\.ts|cli\.ts)/,
    packages: /^node:/,
    instead: 'main.ts only starts and stops: put the work into app.ts or a part.',
  },
  // `annal serve` is the process itself.
  'cli.ts': {
    local: /^(?!cli\.ts)/,
    packages: /^(commander|node:.+)$/,
    instead: 'A command calls a service: put the work there.',
  },
  cli: {
    local: /^(?!main\.ts|cli\.ts)/,
    packages: /^(commander|node:.+)$/,
    instead: 'A command calls a service: put the work there.',
  },
}

const exceptions: Record<string, { may: RegExp; because: string }> = {
  'cli/import/files.ts': { may: /^mime$/, because: 'What kind of file it is, by its name, is a table.' },
  'cli/import/source.ts': { may: /^csv-parse\/sync$/, because: 'A source is read here, and nowhere else.' },
  'cli/serve-command.ts': { may: /^main\.ts$/, because: 'It is the process, as a command.' },
  'domain/ids.ts': { may: /^typeid-js$/, because: 'Identifiers are TypeIDs.' },
  'domain/new-uuid.ts': { may: /^uuid$/, because: 'Identifiers are pure arithmetic, and chance.' },
  'domain/store/internal-address.ts': { may: /^ipaddr\.js$/, because: 'Ranges of addresses are pure arithmetic.' },
  'graphql/builder.ts': { may: prismaTypes, because: 'Pothos reads the data model.' },
  'chain/compile.ts': { may: /^solc$/, because: 'A build step.' },
  'rest/codegen.ts': { may: /^@graphql-codegen\/cli$/, because: 'A build step.' },
  'rest/print-openapi.ts': {
    may: /^(\.\.\/package\.json|graphql\/schema\.ts)$/,
    because: 'A build step, which tells the version and reads the descriptions of the GraphQL schema.',
  },
  'platform/database/configured-database.ts': {
    may: /^config\.ts$/,
    because: 'For commands of their own, which read the configuration as main does.',
  },
}

const buildSteps = [
  'chain/compile.ts',
  'platform/database/new-migration.ts',
  'platform/database/schema-engine.ts',
  'rest/codegen.ts',
  'rest/print-openapi.ts',
]

const packageOf = (specifier: string) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

const areaOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : file)

function isAllowed(file: string, { target, isLocal, isTypeOnly }: Import): boolean {
  const rule = rules[areaOf(file)]!
  if (exceptions[file]?.may.test(target)) return true
  // What the package says of itself.
  if (target === '../package.json') return !file.includes('/')
  if (!isLocal) return rule.packages?.test(target) ?? false
  return rule.local.test(target) || (isTypeOnly && (rule.types?.test(target) ?? false))
}

describe('every import', () => {
  it('goes where the table of areas lets it', () => {
    const complaints = files.flatMap((file) => {
      const rule = rules[areaOf(file)]
      if (!rule)
        return [`src/${file}: the area "${areaOf(file)}" is in no rule. Give it one in ${import.meta.filename}.`]
      return importsOf(file)
        .filter((each) => !isAllowed(file, each))
        .map(({ specifier, target, isTypeOnly }) => {
          const onlyTypes =
            !isTypeOnly && rule.types?.test(target) ? ' Only its types may be known: write "import type".' : ''
          return `src/${file} imports '${specifier}'.${onlyTypes || ` ${rule.instead}`}`
        })
    })
    expect(complaints, complaints.join('\n')).toEqual([])
  })

  it('of ethers stands in the chain', () => {
    const others = files.filter(
      (file) => !/^(chain|verify)\//.test(file) && importsOf(file).some(({ target }) => target === 'ethers'),
    )
    expect(others, 'chain/ and verify/ are the only importers of ethers: ask them through domain/ports/').toEqual([])
  })

  it('of nodemailer stands in the delivery', () => {
    const others = files.filter(
      (file) => !file.startsWith('delivery/') && importsOf(file).some(({ target }) => target.startsWith('nodemailer')),
    )
    expect(others, 'delivery/ is the only importer of nodemailer: send through the port Mailer').toEqual([])
  })

  it('of the service is there after npm ci --omit=dev', () => {
    const complaints = files
      .filter((file) => !buildSteps.includes(file))
      .flatMap((file) => importsOf(file).map((each) => ({ file, ...each })))
      .filter(({ isTypeOnly }) => !isTypeOnly)
      .filter(({ isLocal, specifier, target }) =>
        isLocal
          ? buildSteps.includes(target)
          : !specifier.startsWith('node:') && !(packageOf(specifier) in manifest.dependencies),
      )
      .map(({ file, specifier }) => `src/${file} imports '${specifier}', which production does not have.`)
    expect(complaints).toEqual([])
  })

  it('that is an exception is needed', () => {
    const needless = Object.entries(exceptions).filter(
      ([file, { may }]) => !files.includes(file) || !importsOf(file).some(({ target }) => may.test(target)),
    )
    expect(
      needless.map(([file]) => file),
      'remove the exception',
    ).toEqual([])
  })
})

function loadedByProofs(): Map<string, string> {
  const loaded = new Map<string, string>()
  const ways = globSync('proofs/**/*.ts', { cwd: root })
  for (let file = ways.pop(); file; file = ways.pop()) {
    for (const { target, isLocal, isTypeOnly } of importsOf(file, '')) {
      if (isTypeOnly || loaded.has(target)) continue
      loaded.set(target, file)
      if (isLocal && !target.startsWith('src/') && target.endsWith('.ts')) ways.push(target)
    }
  }
  return loaded
}

describe('what proofs share with tests', () => {
  it('loads nothing of Vitest, which is there in tests alone', () => {
    const loaded = loadedByProofs()
    expect([...loaded.keys()].filter((target) => target.startsWith('test/')).length).toBeGreaterThan(5)
    expect(
      loaded.get('vitest'),
      'Hand in what tests do at their end (`AtEnd` of test/support/listen.ts).',
    ).toBeUndefined()
  })
})

function findCircles(): string[] {
  const seen = new Set<string>()
  const circles: string[] = []
  const walk = (file: string, way: string[]) => {
    const at = way.indexOf(file)
    if (at >= 0) circles.push([...way.slice(at), file].join(' → '))
    if (seen.has(file)) return
    seen.add(file)
    for (const { target, isLocal } of importsOf(file)) {
      if (isLocal && files.includes(target)) walk(target, [...way, file])
    }
  }
  for (const file of files) walk(file, [])
  return circles
}

describe('every source file', () => {
  it('can be understood without those that build on it: no import leads back, not even for a type', () => {
    const circles = findCircles()
    expect(circles, `Move what both need into a file of its own:\n${circles.join('\n')}`).toEqual([])
  })

  it('is no barrel: names are imported from where they are made', () => {
    expect(files.filter((file) => /^export\s+(type\s+)?(\*|\{[^}]*\})\s+from\s/m.test(read(file)))).toEqual([])
  })

  it('reads no environment, except the configuration', () => {
    const readers = files.filter((file) => /\bprocess\.env\b/.test(read(file)) && file !== 'config.ts')
    expect(readers, 'add a variable to src/config/variables.ts and hand its value in').toEqual([])
  })

  it('writes no console lines: it takes a Log', () => {
    expect(files.filter((file) => /\bconsole\.\w/.test(read(file)))).toEqual([])
  })
})
