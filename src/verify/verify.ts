/** Verifies an asset's history: over the network, or from a proof file. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { getAddress } from 'ethers'
import { parseName } from './block-name.ts'
import type { ChainNode } from './chain-node.ts'
import { collect } from './collect.ts'
import type { Anchor } from './evidence.ts'
import { type FileSource, hashFile, notOfAFile, sha256InName } from './file-source.ts'
import { type Finding, holds } from './finding.ts'
import { judge } from './judge.ts'
import { readProof } from './read-proof.ts'
import { findAnchors, settleByHashes, settleByNodes } from './settle.ts'
import { SourceError } from './source-error.ts'
import type { Verification } from './verification.ts'

/** Whose history is verified, and whom to ask. */
export interface NetworkOptions {
  nid: string
  /** The first one gives the evidence; all must have the same blocks. */
  nodes: readonly [ChainNode, ...ChainNode[]]
  /** Address of the ERC-7053 contract. */
  registry: string
  files: FileSource
  /** Accounts whose commits count; left out, those of whoever wrote the first one. */
  recorders?: readonly string[]
  /** Hashes of blocks that the reader believes. */
  hashes?: readonly string[]
}

/**
 * Verifies by nodes and the file network. A chain may change its newest blocks between two questions, so where they are told to be others,
 * everything is asked once more. Raises SourceError when one of them does not answer; what does not hold is told.
 */
export async function verifyOnline(options: NetworkOptions): Promise<Verification> {
  const first = await askAndJudge(options)
  return first.settled.result === 'wrong' ? askAndJudge(options) : first
}

async function askAndJudge({
  nid,
  nodes,
  registry,
  files,
  recorders,
  hashes = [],
}: NetworkOptions): Promise<Verification> {
  const evidence = await collect({ node: nodes[0], registry: readAddress(registry), nid })
  return judge({
    evidence,
    recorders,
    isRegistryNamed: true,
    readTree: (cid) => files.block(cid),
    async judgeFile(sha256) {
      const hash = await hashFile(nid, files)
      return 'sha256' in hash ? judgeFileHash(hash.sha256, sha256) : hash
    },
    async settle(blocks) {
      const known = new Set(blocks.map(({ hash }) => hash))
      const byHashes = hashes.length ? settleByHashes(hashes, [], known) : undefined
      return {
        settled: byHashes?.result === 'wrong' ? byHashes : await settleByNodes(nodes, blocks),
        anchors: [...blocks],
      }
    },
  })
}

/** A proof, and what the reader knows besides. */
export interface ProofOptions {
  proof: AsyncIterable<Uint8Array>
  /** Path of the file that was registered, if its bytes are to be looked at, too. */
  file?: string
  /** What the registry must be; left out, the proof's own word is shown, and does not count. */
  registry?: string
  nid?: string
  recorders?: readonly string[]
  /** Hashes of blocks that the reader believes. */
  hashes?: readonly string[]
  /** Nodes that are asked for the hashes of blocks. */
  nodes?: readonly ChainNode[]
}

/** Verifies a proof; without `nodes` nobody is asked. Raises SourceError when it is none. */
export async function verifyProof(options: ProofOptions): Promise<Verification> {
  const { recorders, hashes = [], nodes = [], file } = options
  const { evidence, readTree, headers, damaged } = await readProof(options.proof)
  assertExpected('registry', evidence.registry, options.registry)
  assertExpected('nid', evidence.nid, options.nid)
  const settle = async (blocks: readonly Anchor[]) => {
    const { anchors, known } = findAnchors(blocks, headers)
    const byHashes = settleByHashes(hashes, anchors, known)
    const settled = nodes.length && byHashes.result === 'unknown' ? await settleByNodes(nodes, anchors) : byHashes
    return { settled, anchors }
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
  return damaged.length ? { ...verification, ...tellDamage(damaged) } : verification
}

/** Whatever is damaged, somebody changed the file. */
const tellDamage = (damaged: readonly string[]): Pick<Verification, 'verdict' | 'agrees' | 'complete'> => ({
  verdict: 'broken',
  agrees: false,
  complete: {
    result: 'wrong',
    finding: `The file holds other bytes than the names of its blocks say: ${damaged.slice(0, 10).join(', ')}.`,
  },
})

/** What the identifier itself says of the file; null where it is of several blocks, and says nothing. */
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
    throw new SourceError(`The file ${path} cannot be read.`, { cause: error })
  }
  return hash.digest('hex')
}

/** With EIP-55 checksum. Raises SourceError. */
function readAddress(text: string): string {
  try {
    return getAddress(text)
  } catch {
    throw new SourceError(`${text} is not the address of a contract.`)
  }
}

function assertExpected(what: string, found: string, expected: string | undefined): void {
  if (expected === undefined || found.toLowerCase() === expected.toLowerCase()) return
  throw new SourceError(`The proof is about the ${what} ${found}, not ${expected}.`)
}
