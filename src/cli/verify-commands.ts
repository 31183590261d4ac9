/** Commands `verify` and `proof`. */

import type { Command } from 'commander'
import type { ChainNode } from '../../packages/verify/src/chain-node.ts'
import type { FileSource } from '../../packages/verify/src/sources.ts'
import type { Verification } from '../../packages/verify/src/verification.ts'
import { canonicalNid } from '../shared/ids.ts'
import { command } from './command.ts'
import { fail, green, print, printJson, red, report, usageError, writeNewFile, yellow } from './terminal.ts'
import { withChain, withInfrastructure } from './with-infrastructure.ts'

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

/** Data sources for the verification of a history. */
interface Sources {
  nodes: [ChainNode, ...ChainNode[]]
  registry: string
  files: FileSource
  /** Accounts whose commits count. Undefined for foreign sources. */
  recorders?: string[]
  /** Returns a reader of an asset's trees. It rejects files of other assets. */
  treesOf(nid: string): FileSource['block']
}

/** Wraps a function so that its errors become usage errors. */
const asUsage =
  <Input, T>(read: (input: Input) => T) =>
  (input: Input): T => {
    try {
      return read(input)
    } catch (error) {
      throw usageError((error as Error).message)
    }
  }

async function openProof(path: string) {
  const { open } = await import('node:fs/promises')
  const { systemReason } = await import('../shared/operator-errors.ts')
  const file = await open(path).catch((cause: unknown) => {
    throw usageError(`Cannot read ${path}: ${systemReason(cause)}.`)
  })
  return file.createReadStream()
}

async function withLocalSources<T>(work: (sources: Sources) => Promise<T>): Promise<T> {
  const { recordersOf } = await import('../chain/create-chain.ts')
  const { filesOf, findRegistry, nodeOf } = await import('../modules/commits/verify-history.ts')
  const { treeReader } = await import('../modules/commits/verify-history.ts')
  return withInfrastructure((infrastructure) =>
    withChain(infrastructure, async (chain) => {
      const registry = await findRegistry(chain.registry)
      if (!registry) throw new Error('This installation has no registry yet: it has not made any commit.')
      return work({
        nodes: [nodeOf(chain.registry.rpc)],
        registry,
        files: filesOf(infrastructure.contentStore),
        recorders: await recordersOf(infrastructure.config, infrastructure),
        treesOf: (nid) => treeReader(infrastructure, nid),
      })
    }),
  )
}

/**
 * Calls `work` with data sources. Three options select independent sources, which require no trust in Annal. Default:
 * the sources of this installation.
 */
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
  if (node || registry || gateway) throw usageError('Use --rpc, --registry and --gateway together, or none of them.')
  return withLocalSources(work)
}

/** Returns the canonical nid. Throws a usage error if the text is not a CID. */
async function readNid(text: string): Promise<string> {
  const nid = canonicalNid(text)
  if (nid === undefined) throw usageError('Expected a nid, which is a CID such as bafkrei….')
  return nid
}

async function verify(subject: string, flags: VerifyFlags): Promise<Verification> {
  const { recorder, blockHash: hashes, file, ...sources } = flags
  const { assertUsage, isProofPath } = await import('../../packages/verify/src/main.ts')
  const { verifyOnline, verifyProof } = await import('../../packages/verify/src/verify.ts')
  asUsage(assertUsage)({ registry: sources.registry, recorders: recorder, hashes })
  if (await isProofPath(subject)) {
    const { connectNode } = await import('../../packages/verify/src/chain-node.ts')
    const { UnreadableInput } = await import('../../packages/verify/src/source-error.ts')
    const nodes = sources.rpc?.map(asUsage(connectNode))
    const proof = await openProof(subject)
    const options = { proof, file, registry: sources.registry, recorders: recorder, hashes, nodes }
    return verifyProof(options).catch((error: unknown) => {
      throw error instanceof UnreadableInput ? usageError(error.message) : error
    })
  }
  const nid = await readNid(subject)
  return withSources(sources, ({ recorders, ...given }) =>
    verifyOnline({ nid, ...given, recorders: recorder ?? recorders, hashes }),
  )
}

async function printVerification(verification: Verification): Promise<void> {
  const { describe } = await import('../../packages/verify/src/print.ts')
  const { lines, verdict } = describe(verification)
  const colors = { holds: green, unsettled: yellow, broken: red, unknown: red }
  print(lines.join('\n'))
  report(colors[verification.verdict](verdict))
}

async function writeProofFile(given: string, flags: SourceFlags & { out?: string; json?: true }) {
  const nid = await readNid(given)
  const { out = `${nid}.car`, json, ...sources } = flags
  const { writeProof } = await import('../../packages/verify/src/write-proof.ts')
  const bytes = await writeNewFile(out, (file) =>
    withSources(sources, ({ nodes, registry, treesOf }) =>
      file.writeFile(writeProof({ nid, node: nodes[0], registry, readTree: treesOf(nid) })),
    ),
  )
  if (json) printJson({ nid, path: out, bytes })
  else report(green(`Wrote ${out} (${bytes} bytes). Verify it anywhere: annal verify ${out}`))
}

const addSourceOptions = (to: Command) =>
  to
    .option('--rpc <url...>', 'chain nodes; all must have the same blocks, the first one provides the evidence')
    .option('--registry <address>', 'address of the ERC-7053 registry')
    .option('--gateway <url>', 'IPFS gateway, or the address of an Annal server')

export function addVerifyCommand(program: Command): void {
  const verifyCommand = command(program, 'verify', {
    description: 'Verifies the history of an asset with the chain and the file network only.',
    examples: [
      'annal verify bafkrei…',
      'annal verify bafkrei… --rpc https://rpc.example.org --registry 0x5FbD… --gateway https://ipfs.io --json',
      'annal verify proof.car --registry 0x5FbD… --block-hash 0x1f2e… --file photo.jpg',
    ],
    notes:
      'Exit codes: 0 the history is valid, 1 it is invalid or missing, 2 wrong arguments or unreadable proof, 3 some evidence is missing.',
  }).argument('<subject>', 'nid of the asset, or path of a proof')
  addSourceOptions(verifyCommand)
    .option(
      '--recorder <address...>',
      'accounts whose commits count; default: those of this installation, or with --rpc the author of the first commit',
    )
    .option('--block-hash <hash...>', 'hashes of blocks that you trust')
    .option('--file <path>', 'the file itself, to compare with a proof')
    .option('--json', 'prints the commits with all checks')
    .action(async (subject: string, flags: VerifyFlags) => {
      const verification = await verify(subject, flags)
      const { exitCodes } = await import('../../packages/verify/src/print.ts')
      fail(exitCodes[verification.verdict])
      if (flags.json) printJson(verification)
      else await printVerification(verification)
    })
}

export function addProofCommand(program: Command): void {
  const proof = command(program, 'proof', {
    description: 'Writes the history of an asset to a file that anyone can verify offline.',
    examples: [
      'annal proof bafkrei… --out proof.car',
      'annal proof bafkrei… --rpc https://rpc.example.org --registry 0x5FbD… --gateway https://ipfs.io --json',
    ],
  }).argument('<nid>', 'nid of the asset')
  addSourceOptions(proof)
    .option('--out <path>', 'path of a new file; default: <nid>.car')
    .option('--json', 'prints {"nid", "path", "bytes"}')
    .action(writeProofFile)
}
