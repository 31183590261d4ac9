/** Verifies an asset's history over the network or from a proof file. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { getAddress } from 'ethers'
import type { ChainNode } from './chain-node.ts'
import { canonicalCid, isBlock, parseName } from './cids.ts'
import { collect } from './collect.ts'
import type { Anchor } from './evidence.ts'
import { readProof } from './read-proof.ts'
import { findAnchors, settleByHashes, settleByNodes, trust } from './settle.ts'
import { InputError, reasonOfSource } from './source-error.ts'
import { type FileSource, hashFile, notOfAFile, sha256InName } from './sources.ts'
import { type Finding, holds, unknown, type Verification, wrong } from './verification.ts'
import { judge } from './verify-history.ts'

/** The asset to verify, and the sources of evidence. */
export interface NetworkOptions {
  nid: string
  /** Chain nodes. The first one provides the evidence; the others must have the same blocks. */
  nodes: readonly [ChainNode, ...ChainNode[]]
  /** Address of the ERC-7053 contract. */
  registry: string
  files: FileSource
  /** Accounts whose commits count; default: the account that wrote the first commit. */
  recorders?: readonly string[]
  /** Block hashes that the user trusts. */
  hashes?: readonly string[]
}

/**
 * Verifies an asset with nodes and IPFS. A contradiction about blocks is checked again, because the chain may have changed between two
 * requests. A node or gateway without a usable response leaves the verdict unsettled. Throws InputError if the registry is not an address.
 */
export async function verifyOnline(options: NetworkOptions): Promise<Verification> {
  const first = await collectAndJudge(options)
  return first.settled.result === 'wrong' ? collectAndJudge(options) : first
}

async function collectAndJudge({
  nid: given,
  nodes,
  registry,
  files,
  recorders,
  hashes = [],
}: NetworkOptions): Promise<Verification> {
  // The chain uses the canonical form of the CID.
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
      const { unmatched } = trust(hashes, new Set(blocks.map(({ hash }) => hash)))
      return { settled: await settleByNodes(nodes, blocks, unmatched), anchors: [...blocks] }
    },
  })
}

/** Reads a tree from an untrusted source. Treats bytes that do not match as missing. */
async function readTree(cid: string, files: FileSource): Promise<Uint8Array | Finding> {
  try {
    const bytes = await files.block(cid)
    if (!bytes) return unknown('The tree is not on the file network, or not public.')
    const name = parseName(cid)
    return name && isBlock(name, bytes) ? bytes : unknown('The tree does not match its CID.')
  } catch (error) {
    return unknown(reasonOfSource(error))
  }
}

/** A proof, and what the user knows in addition. */
export interface ProofOptions {
  proof: AsyncIterable<Uint8Array>
  /** Path of the registered file. If missing, the file is not checked. */
  file?: string
  /** Address of the expected registry. If missing, the verdict is unsettled and shows the proof's registry. */
  registry?: string
  nid?: string
  recorders?: readonly string[]
  /** Block hashes that the user trusts. */
  hashes?: readonly string[]
  /** Nodes to compare the block hashes with. */
  nodes?: readonly ChainNode[]
}

/** Verifies a proof. Uses the network only if there are `nodes`. Throws InputError if the proof or the file cannot be read. */
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
    return { settled: isByNodes ? await settleByNodes(nodes, anchors, trusted.unmatched) : byHashes, anchors }
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

/** A damaged block means that the file was changed, because a proof is written with correct hashes. */
const reportDamage = (damaged: readonly string[]): Pick<Verification, 'verdict' | 'agrees' | 'complete'> => ({
  verdict: 'broken',
  agrees: false,
  complete: wrong(`The bytes of these blocks do not match their identifiers: ${damaged.slice(0, 10).join(', ')}.`),
})

/** Compares the CID with the SHA-256 in the trees. Returns null for a file of several blocks, because its CID does not contain the file's hash. */
function judgeName(nid: string, expected: string): Finding | null {
  if (!parseName(nid)) return notOfAFile
  const named = sha256InName(nid)
  return named === undefined ? null : judgeFileHash(named, expected)
}

const judgeFileHash = (own: string, expected: string): Finding =>
  holds(own === expected, `The file's SHA-256 is ${own}, but the tree contains ${expected}.`)

async function hashLocalFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  } catch (error) {
    throw new InputError(`The file ${path} cannot be read.`, { cause: error })
  }
  return hash.digest('hex')
}

/** Returns the address with its EIP-55 checksum. Throws InputError. */
function readAddress(text: string): string {
  try {
    return getAddress(text)
  } catch {
    throw new InputError(`${text} is not the address of a contract.`)
  }
}

function assertExpected(what: string, found: string, expected: string | undefined): void {
  if (expected === undefined || found.toLowerCase() === expected.toLowerCase()) return
  throw new InputError(`The proof contains the ${what} ${found}, not ${expected}.`)
}
