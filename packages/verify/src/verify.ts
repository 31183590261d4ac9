/** Verifies an asset's history: over the network, or from a proof file. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { getAddress } from 'ethers'
import type { ChainNode } from './chain-node.ts'
import { canonicalCid, isBlock, parseName } from './cids.ts'
import { collect } from './collect.ts'
import type { Anchor } from './evidence.ts'
import { readProof } from './read-proof.ts'
import { findAnchors, settleByHashes, settleByNodes, trust } from './settle.ts'
import { reasonOfSource, UnreadableInput } from './source-error.ts'
import { type FileSource, hashFile, notOfAFile, sha256InName } from './sources.ts'
import { type Finding, holds, unknown, type Verification, wrong } from './verification.ts'
import { judge } from './verify-history.ts'

/** Whose history is verified, and the sources of evidence. */
export interface NetworkOptions {
  nid: string
  /** The first one gives the evidence; all must have the same blocks. */
  nodes: readonly [ChainNode, ...ChainNode[]]
  /** Address of the ERC-7053 contract. */
  registry: string
  files: FileSource
  /** Accounts whose commits count; default: the account that wrote the first commit. */
  recorders?: readonly string[]
  /** Hashes of blocks that the reader trusts. */
  hashes?: readonly string[]
}

/**
 * Verifies with nodes and the file network. A chain may change its newest blocks between two questions, so a contradiction about blocks is
 * checked a second time. A node or gateway that gives no usable answer leaves the verdict unsettled. Throws UnreadableInput when the
 * registry is not an address.
 */
export async function verifyOnline(options: NetworkOptions): Promise<Verification> {
  const first = await askAndJudge(options)
  return first.settled.result === 'wrong' ? askAndJudge(options) : first
}

async function askAndJudge({
  nid: given,
  nodes,
  registry,
  files,
  recorders,
  hashes = [],
}: NetworkOptions): Promise<Verification> {
  // The chain has commits under the canonical form.
  const nid = canonicalCid(given) ?? given
  const evidence = await collect({ node: nodes[0], registry: readAddress(registry), nid })
  return judge({
    ...{ evidence, recorders },
    isRegistryNamed: true,
    readTree: (cid) => readTree(cid, files),
    async judgeFile(sha256) {
      const hash = await hashFile(nid, files)
      return 'sha256' in hash ? judgeFileHash(hash.sha256, sha256) : hash
    },
    async settle(blocks) {
      const { strange } = trust(hashes, new Set(blocks.map(({ hash }) => hash)))
      return { settled: await settleByNodes(nodes, blocks, strange), anchors: [...blocks] }
    },
  })
}

/** Reads a tree from an untrusted source. Other bytes than the tree's mean that the source does not have it. */
async function readTree(cid: string, files: FileSource): Promise<Uint8Array | Finding> {
  try {
    const bytes = await files.block(cid)
    if (!bytes) return unknown('The tree is not on the file network, or not public.')
    const name = parseName(cid)
    return name && isBlock(name, bytes) ? bytes : unknown('Other bytes were given instead of the tree.')
  } catch (error) {
    return unknown(reasonOfSource(error))
  }
}

/** A proof, and what the reader knows besides. */
export interface ProofOptions {
  proof: AsyncIterable<Uint8Array>
  /** Path of the registered file. The file is not checked without it. */
  file?: string
  /** The expected registry. Without it, the proof's own claim is shown, and the verdict is unsettled. */
  registry?: string
  nid?: string
  recorders?: readonly string[]
  /** Hashes of blocks that the reader trusts. */
  hashes?: readonly string[]
  /** Nodes that are asked for the hashes of blocks. */
  nodes?: readonly ChainNode[]
}

/** Verifies a proof. Uses the network only when there are `nodes`. Throws UnreadableInput when the proof or the file cannot be read. */
export async function verifyProof(options: ProofOptions): Promise<Verification> {
  const { recorders, hashes = [], nodes = [], file } = options
  const { evidence, readTree, headers, damaged } = await readProof(options.proof)
  assertExpected('registry', evidence.registry, options.registry)
  assertExpected('nid', evidence.nid, options.nid && (canonicalCid(options.nid) ?? options.nid))
  const settle = async (blocks: readonly Anchor[]) => {
    const { anchors, known } = findAnchors(blocks, headers)
    const trusted = trust(hashes, known)
    const byHashes = settleByHashes(trusted, anchors)
    const isByNodes = nodes.length && byHashes.result !== 'right'
    return { settled: isByNodes ? await settleByNodes(nodes, anchors, trusted.strange) : byHashes, anchors }
  }
  const judgeFile = async (sha256: string) => {
    const named = judgeName(evidence.nid, sha256)
    if (file === undefined || named?.result === 'wrong') return named
    return judgeFileHash(await hashLocalFile(file), sha256)
  }
  const verification = await judge({
    ...{ evidence, recorders, readTree, judgeFile, settle },
    isRegistryNamed: options.registry !== undefined,
  })
  return damaged.length ? { ...verification, ...reportDamage(damaged) } : verification
}

/** A damaged block means that somebody changed the file: a proof is written with the right hashes. */
const reportDamage = (damaged: readonly string[]): Pick<Verification, 'verdict' | 'agrees' | 'complete'> => ({
  verdict: 'broken',
  agrees: false,
  complete: wrong(`The bytes of these blocks do not match their identifiers: ${damaged.slice(0, 10).join(', ')}.`),
})

/** Compares the identifier with the SHA-256 in the trees; null for a file of several blocks, whose identifier does not hold it. */
function judgeName(nid: string, told: string): Finding | null {
  if (!parseName(nid)) return notOfAFile
  const named = sha256InName(nid)
  return named === undefined ? null : judgeFileHash(named, told)
}

const judgeFileHash = (own: string, told: string): Finding =>
  holds(own === told, `The file's SHA-256 is ${own}, the tree says ${told}.`)

async function hashLocalFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  } catch (error) {
    throw new UnreadableInput(`The file ${path} cannot be read.`, { cause: error })
  }
  return hash.digest('hex')
}

/** Returns the address with its EIP-55 checksum. Throws UnreadableInput. */
function readAddress(text: string): string {
  try {
    return getAddress(text)
  } catch {
    throw new UnreadableInput(`${text} is not the address of a contract.`)
  }
}

function assertExpected(what: string, found: string, expected: string | undefined): void {
  if (expected === undefined || found.toLowerCase() === expected.toLowerCase()) return
  throw new UnreadableInput(`The proof is about the ${what} ${found}, not ${expected}.`)
}
