/** `annal verify` and `annal proof`. */
import { type Command, CommanderError } from 'commander'
import type { ChainNode } from '../../packages/verify/src/chain-node.ts'
import type { FileSource } from '../../packages/verify/src/sources.ts'
import type { Verification } from '../../packages/verify/src/verification.ts'
import { command } from './command.ts'
import { fail, green, print, printJson, red, say, WRONG_USAGE, yellow } from './output.ts'
import { publicUrlOf, withInstallation } from './with-installation.ts'

interface SourceFlags {
  rpc?: string[]
  registry?: string
  gateway?: string
}

interface VerifyFlags extends SourceFlags {
  recorder?: string[]
  blockHash?: string[]
  file?: string
  json?: true
}

/** Where a history is read. */
interface Sources {
  nodes: [ChainNode, ...ChainNode[]]
  registry: string
  files: FileSource
  /** Accounts whose commits count; undefined: the caller knows, or nobody does. */
  recorders?: string[]
  /** Bytes of a tree, for a proof: of an asset's own alone, where files of others lie beside them. */
  treesOf(nid: string): FileSource['block']
}

const wrong = (message: string) => new CommanderError(WRONG_USAGE, 'annal.verify', message)

/** What an address that is none raises is wrong usage. */
const asUsage =
  <Said, T>(read: (said: Said) => T) =>
  (said: Said): T => {
    try {
      return read(said)
    } catch (error) {
      throw wrong((error as Error).message)
    }
  }

async function openProof(path: string) {
  const { open } = await import('node:fs/promises')
  const { systemReason } = await import('../shared/operator-errors.ts')
  const file = await open(path).catch((cause: unknown) => {
    throw wrong(`${path} cannot be read: ${systemReason(cause)}.`)
  })
  return file.createReadStream()
}

/** A proof or a file that cannot be read is wrong usage. */
async function unlessUnreadable<T>(work: Promise<T>): Promise<T> {
  const { UnreadableInput } = await import('../../packages/verify/src/source-error.ts')
  return work.catch((error: unknown) => {
    throw error instanceof UnreadableInput ? wrong(error.message) : error
  })
}

/** Three flags name the chain, the contract and the file network: then nothing of Annal is asked or trusted. */
async function withSources<T>(
  { rpc = [], registry, gateway }: SourceFlags,
  work: (sources: Sources) => Promise<T>,
): Promise<T> {
  const { connectNode } = await import('../../packages/verify/src/chain-node.ts')
  const [node, ...others] = rpc.map(asUsage(connectNode))
  if (node && registry && gateway) {
    const { connectGateway } = await import('../../packages/verify/src/sources.ts')
    const files = asUsage(connectGateway)(gateway)
    return work({ nodes: [node, ...others], registry, files, treesOf: () => files.block })
  }
  if (node || registry || gateway) {
    throw wrong('Give --rpc, --registry and --gateway together, or none of them.')
  }
  return withOwnSources(work)
}

const withOwnSources = <T>(work: (sources: Sources) => Promise<T>): Promise<T> =>
  withInstallation(async (installation) => {
    const { connectChain, recordersOf } = await import('../chain/connect-chain.ts')
    const { filesOf, findRegistry, nodeOf } = await import('../modules/commits/local-sources.ts')
    const { treeReader } = await import('../modules/commits/verify-history.ts')
    const chain = await connectChain(installation, publicUrlOf(installation))
    try {
      const registry = await findRegistry(chain.registry)
      if (!registry) throw new Error('This installation has no registry yet: nothing was ever committed.')
      const recorders = await recordersOf(installation.config, installation)
      return await work({
        nodes: [nodeOf(chain.registry.rpc)],
        registry,
        files: filesOf(installation.contentStore),
        recorders,
        treesOf: (nid) => treeReader(installation, nid),
      })
    } finally {
      await chain.close()
    }
  })

/** Returns the canonical nid. Throws a usage error if the text is not a CID. */
async function readNid(text: string): Promise<string> {
  const { canonicalNid } = await import('../shared/ids.ts')
  const nid = canonicalNid(text)
  if (nid === undefined) throw wrong('A nid is a CID, such as bafkrei….')
  return nid
}

async function verify(subject: string, flags: VerifyFlags): Promise<Verification> {
  const { recorder, blockHash: hashes, file, ...sources } = flags
  const { isProofPath } = await import('../../packages/verify/src/main.ts')
  const { verifyOnline, verifyProof } = await import('../../packages/verify/src/verify.ts')
  const { assertUsage } = await import('../../packages/verify/src/main.ts')
  asUsage(assertUsage)({ registry: sources.registry, recorders: recorder, hashes })
  if (await isProofPath(subject)) {
    const { connectNode } = await import('../../packages/verify/src/chain-node.ts')
    const nodes = sources.rpc?.map(asUsage(connectNode))
    const { registry } = sources
    const proof = await openProof(subject)
    return unlessUnreadable(verifyProof({ proof, file, registry, recorders: recorder, hashes, nodes }))
  }
  const nid = await readNid(subject)
  return withSources(sources, ({ recorders, ...given }) =>
    verifyOnline({ nid, ...given, recorders: recorder ?? recorders, hashes }),
  )
}

async function printVerification(verification: Verification): Promise<void> {
  const { describe } = await import('../../packages/verify/src/print.ts')
  const { lines, verdict } = describe(verification)
  const colours = { holds: green, unsettled: yellow, broken: red, unknown: red }
  print(lines.join('\n'))
  say(colours[verification.verdict](verdict))
}

async function prove(given: string, { out: wanted, json, ...sources }: SourceFlags & { out?: string; json?: true }) {
  const nid = await readNid(given)
  const out = wanted ?? `${nid}.car`
  const { writeNewFile } = await import('./new-file.ts')
  const { writeProof } = await import('../../packages/verify/src/write-proof.ts')
  const bytes = await writeNewFile(out, (file) =>
    withSources(sources, ({ nodes, registry, treesOf }) =>
      file.writeFile(writeProof({ nid, node: nodes[0], registry, readTree: treesOf(nid) })),
    ),
  )
  if (json) printJson({ nid, path: out, bytes })
  else say(green(`${out}: ${bytes} bytes. Check it anywhere: annal verify ${out}`))
}

/** Flags that name strangers' sources. */
const addSourceOptions = (made: Command) =>
  made
    .option('--rpc <url...>', 'chain nodes; all must have the same blocks, the first one gives the evidence')
    .option('--registry <address>', 'the ERC-7053 registry there')
    .option('--gateway <url>', "somebody's IPFS gateway, or Annal's own address")

/** Adds `annal verify`. */
export function addVerifyCommand(program: Command): void {
  const made = command(
    program,
    'verify',
    "Checks an asset's history with nothing but the chain and the file network.",
    [
      'annal verify bafkrei…',
      'annal verify bafkrei… --rpc https://rpc.example.org --registry 0x5FbD… --gateway https://ipfs.io --json',
      'annal verify proof.car --registry 0x5FbD… --block-hash 0x1f2e… --file photo.jpg',
    ],
  ).argument('<subject>', "the asset's identifier, or the path of a proof")
  addSourceOptions(made)
    .option(
      '--recorder <address...>',
      "accounts whose commits count; default: this installation's, or with --rpc whose the first one is",
    )
    .option('--block-hash <hash...>', 'hashes of blocks that you believe')
    .option('--file <path>', 'the file itself, beside a proof')
    .option('--json', 'prints the commits with every check')
    .addHelpText(
      'after',
      '\nExits with 0 when the history holds, 1 when it is broken or there is none, 2 when the call is wrong or the proof cannot be read, 3 when some evidence is missing.',
    )
    .action(async (subject: string, flags: VerifyFlags) => {
      const verification = await verify(subject, flags)
      const { exitCodes } = await import('../../packages/verify/src/print.ts')
      fail(exitCodes[verification.verdict])
      if (flags.json) printJson(verification)
      else await printVerification(verification)
    })
}

/** Adds `annal proof`. */
export function addProofCommand(program: Command): void {
  const made = command(program, 'proof', "Writes an asset's history into one file that anybody can check without us.", [
    'annal proof bafkrei… --out proof.car',
    'annal proof bafkrei… --rpc https://rpc.example.org --registry 0x5FbD… --gateway https://ipfs.io --json',
  ]).argument('<nid>', "the asset's identifier")
  addSourceOptions(made)
    .option('--out <path>', 'where it is written, where nothing is yet; default: <nid>.car')
    .option('--json', 'prints {"nid", "path", "bytes"}')
    .action(prove)
}
