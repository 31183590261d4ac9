/** The command `annal-verify`. It reads no configuration and no environment variables. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { isAddress } from 'ethers'
import { connectNode } from './chain-node.ts'
import { canonicalCid } from './cids.ts'
import { describe, exitCodes } from './print.ts'
import { connectGateway } from './sources.ts'
import type { Verification } from './verification.ts'
import { verifyOnline, verifyProof } from './verify.ts'

/** Arguments whose format can be checked without any source. */
export interface Said {
  nid?: string
  registry?: string
  recorders?: readonly string[]
  hashes?: readonly string[]
}

const BLOCK_HASH = /^0x[0-9a-f]{64}$/i
const HEX_ADDRESS = /^0x/i

/** Throws an Error if a CID, an address or a hash is malformed. */
export function assertUsage({ nid, registry, recorders = [], hashes = [] }: Said): void {
  if (nid !== undefined && canonicalCid(nid) === undefined)
    throw new Error(`${nid} is neither a proof file nor an asset identifier (a CID).`)
  if (registry !== undefined && !isHexAddress(registry))
    throw new Error(`${registry} is not the address of a contract.`)
  const account = recorders.find((each) => !isHexAddress(each))
  if (account !== undefined) throw new Error(`${account} is not the address of an account.`)
  const hash = hashes.find((each) => !BLOCK_HASH.test(each))
  if (hash !== undefined) throw new Error(`${hash} is not the hash of a block: 0x and 64 hexadecimal digits.`)
}

const isHexAddress = (text: string) => HEX_ADDRESS.test(text) && isAddress(text.toLowerCase())

/** Returns true if the argument is the path of a proof file, not an asset ID. */
export const isProofPath = async (subject: string): Promise<boolean> =>
  subject.endsWith('.car') ||
  (await stat(subject).then(
    (found) => found.isFile(),
    () => false,
  ))

const HELP = `Checks an asset's history with nothing but the chain and the file network, or with a proof alone.

Usage:
  annal-verify <nid> --rpc <url> --registry <address> --gateway <url>
  annal-verify <proof.car> --registry <address> [--block-hash <hash>] [--file <path>]

  --rpc <url>             a chain node; repeat it to compare the blocks of several nodes
  --registry <address>    the ERC-7053 contract that counts
  --gateway <url>         an IPFS gateway, or the address of an Annal
  --recorder <address>    an account whose commits count; may be repeated. Default: the account that wrote the first commit
  --block-hash <hash>     the hash of a block that you trust; may be repeated
  --file <path>           the file itself, beside a proof
  --json                  prints all findings

Exit codes:
  0  the history holds
  1  the history is broken (something contradicts), or the chain holds no commit of the asset
  2  the call is wrong, or the proof or the file cannot be read
  3  unsettled: nothing contradicts, but some evidence is missing or unreadable
`
/** Exit code for wrong usage and unreadable input. */
const WRONG_USAGE = 2

const text = { type: 'string' } as const
const texts = { type: 'string', multiple: true } as const
const flag = { type: 'boolean' } as const
const options = {
  ...{ rpc: texts, recorder: texts, 'block-hash': texts },
  ...{ registry: text, gateway: text, file: text, json: flag, help: flag },
}

const read = (args: readonly string[]) => parseArgs({ args: [...args], options, allowPositionals: true })
type Flags = ReturnType<typeof read>['values']

/** Runs the command and returns the exit code. Prints errors and never throws. */
export async function main(
  args: readonly string[],
  out: { write(text: string): unknown },
  err: { write(text: string): unknown },
): Promise<number> {
  try {
    const { values, positionals } = read(args)
    if (values.help) {
      out.write(HELP)
      return 0
    }
    const verification = await verify(positionals, values)
    const { lines, verdict } = describe(verification)
    if (values.json) out.write(`${JSON.stringify(verification, null, 2)}\n`)
    else out.write(`${lines.join('\n')}\n`)
    err.write(`${verdict}\n`)
    return exitCodes[verification.verdict]
  } catch (error) {
    err.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return WRONG_USAGE
  }
}

async function verify([subject, ...rest]: string[], flags: Flags): Promise<Verification> {
  if (subject === undefined || rest.length) throw new Error('Say which asset, or which proof: annal-verify --help')
  const { rpc = [], registry, gateway, recorder: recorders, 'block-hash': hashes, file } = flags
  const isProof = await isProofPath(subject)
  assertUsage({ ...(!isProof && { nid: subject }), registry, recorders, hashes })
  const [node, ...others] = rpc.map(connectNode)
  if (isProof) {
    const nodes = node ? [node, ...others] : []
    return verifyProof({ proof: createReadStream(subject), file, registry, recorders, hashes, nodes })
  }
  if (!node || !registry || !gateway) throw new Error('Without a proof, --rpc, --registry and --gateway are needed.')
  return verifyOnline({
    nid: subject,
    nodes: [node, ...others],
    registry,
    files: connectGateway(gateway),
    recorders,
    hashes,
  })
}
