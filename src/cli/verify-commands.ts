/** Commands `verify` and `proof`. */
import type { Command } from 'commander'
import type { ChainNode } from '../../packages/verify/src/chain-node.ts'
import type { VerifyFlags } from '../../packages/verify/src/main.ts'
import type { FileSource } from '../../packages/verify/src/sources.ts'
import { canonicalNid } from '../shared/ids.ts'
import { command, type Flags } from './command.ts'
import { fail, green, print, printJson, red, report, usageError, writeNewFile, yellow } from './terminal.ts'
import { withChain, withInfrastructure } from './with-infrastructure.ts'

interface LocalSources {
  nodes: readonly [ChainNode]
  registry: string
  files: FileSource
  /** Accounts whose commits count. */
  recorders: string[]
  /** Returns a reader of an asset's trees. It rejects files of other assets. */
  treesOf(nid: string): FileSource['block']
}

async function withLocalSources<T>(work: (sources: LocalSources) => Promise<T>): Promise<T> {
  const { recordersOf } = await import('../chain/create-chain.ts')
  const { filesOf, findRegistry, nodeOf, treeReader } = await import('../modules/commits/verify-history.ts')
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

async function verifySubject(subject: string, flags: VerifyFlags & { json?: true }): Promise<void> {
  const { verify } = await import('../../packages/verify/src/main.ts')
  const { verifyOnline } = await import('../../packages/verify/src/verify.ts')
  const { describe, exitCodes } = await import('../../packages/verify/src/print.ts')
  const verification = await verify(canonicalNid(subject) ?? subject, flags, (nid, { recorder, blockHash: hashes }) =>
    withLocalSources(({ recorders, ...sources }) =>
      verifyOnline({ nid, ...sources, recorders: recorder ?? recorders, hashes }),
    ),
  )
  fail(exitCodes[verification.verdict])
  if (flags.json) return printJson(verification)
  const { lines, verdict } = describe(verification)
  const colors = { holds: green, unsettled: yellow, broken: red, unknown: red }
  print(lines.join('\n'))
  report(colors[verification.verdict](verdict))
}

async function writeProofFile(subject: string, flags: VerifyFlags & Flags<never, 'out'>) {
  const nid = canonicalNid(subject)
  if (nid === undefined) throw usageError('Expected a nid, which is a CID such as bafkrei….')
  const { connectSources } = await import('../../packages/verify/src/main.ts')
  const { writeProof } = await import('../../packages/verify/src/write-proof.ts')
  const { out: path = `${nid}.car`, json } = flags
  const sources = connectSources(flags)
  const bytes = await writeNewFile(path, (file) => {
    const write = (node: ChainNode, registry: string, readTree: FileSource['block']) =>
      file.writeFile(writeProof({ nid, node, registry, readTree }))
    if (sources) return write(sources.nodes[0], sources.registry, sources.files.block)
    return withLocalSources(({ nodes, registry, treesOf }) => write(nodes[0], registry, treesOf(nid)))
  })
  if (json) printJson({ nid, path, bytes })
  else report(green(`Wrote ${path} (${bytes} bytes). Verify it anywhere: annal verify ${path}`))
}

const addSourceOptions = (to: Command) =>
  to
    .option('--rpc <url...>', 'chain nodes; all must have the same blocks, the first one provides the evidence')
    .option('--registry <address>', 'address of the ERC-7053 registry')
    .option('--gateway <url>', 'IPFS gateway, or the address of an Annal server')

export function addVerifyCommands(program: Command): void {
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
    .action(verifySubject)

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
