/** The command `annal-verify`. It reads no configuration and no environment variables. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { isAddress } from 'ethers'
import { connectNode } from './chain-node.ts'
import { canonicalCid } from './cids.ts'
import { describe, exitCodes } from './print.ts'
import { InputError } from './source-error.ts'
import { connectGateway } from './sources.ts'
import type { Verification } from './verification.ts'
import { verifyOnline, verifyProof } from './verify.ts'

interface SourceFlags {
  rpc?: string[]
  registry?: string
  gateway?: string
}

/** Options of the command line. */
export interface VerifyFlags extends SourceFlags {
  recorder?: string[]
  blockHash?: string[]
  file?: string
}

const BLOCK_HASH = /^0x[0-9a-f]{64}$/i
const HEX_ADDRESS = /^0x/i

/** Throws InputError if an address or a hash is malformed. */
function assertFlags({ registry, recorder = [], blockHash = [] }: VerifyFlags): void {
  if (registry !== undefined && !isHexAddress(registry))
    throw new InputError(`${registry} is not the address of a contract.`)
  const account = recorder.find((each) => !isHexAddress(each))
  if (account !== undefined) throw new InputError(`${account} is not the address of an account.`)
  const hash = blockHash.find((each) => !BLOCK_HASH.test(each))
  if (hash !== undefined) throw new InputError(`${hash} is not the hash of a block: 0x and 64 hexadecimal digits.`)
}

const isHexAddress = (text: string) => HEX_ADDRESS.test(text) && isAddress(text.toLowerCase())

/** Returns true if the argument is the path of a proof file, not an asset ID. */
const isProofPath = async (subject: string): Promise<boolean> =>
  subject.endsWith('.car') ||
  (await stat(subject).then(
    (found) => found.isFile(),
    () => false,
  ))

const HELP = `Verifies the history of an asset with only the chain and the file network, or with only a proof.

Usage:
  annal-verify <nid> --rpc <url> --registry <address> --gateway <url>
  annal-verify <proof.car> --registry <address> [--block-hash <hash>] [--file <path>]

  --rpc <url>             chain node; repeat the option to compare the blocks of several nodes
  --registry <address>    address of the ERC-7053 registry
  --gateway <url>         IPFS gateway, or the address of an Annal server
  --recorder <address>    account whose commits count; can be repeated. Default: the author of the first commit
  --block-hash <hash>     hash of a block that you trust; can be repeated
  --file <path>           the file itself, to compare with a proof
  --json                  prints all findings

Exit codes:
  0  the history is valid
  1  the history is invalid (something contradicts), or the chain has no commit of the asset
  2  wrong arguments, or the proof or the file cannot be read
  3  nothing contradicts, but some evidence is missing or unreadable
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

/** Runs the command and returns the exit code. Prints errors and never throws. */
export async function main(
  args: readonly string[],
  out: { write(text: string): unknown },
  err: { write(text: string): unknown },
): Promise<number> {
  try {
    const { values, positionals } = read(args)
    const [subject, ...rest] = positionals
    if (values.help) {
      out.write(HELP)
      return 0
    }
    if (subject === undefined || rest.length)
      throw new InputError('Specify one asset or one proof: annal-verify --help')
    const verification = await verify(subject, { ...values, blockHash: values['block-hash'] }, () => {
      throw new InputError('Use --rpc, --registry and --gateway to verify an asset without a proof.')
    })
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

/** Connects to independent sources. Returns undefined without any flag. Throws InputError if some are missing or invalid. */
export function connectSources({ rpc = [], registry, gateway }: SourceFlags) {
  const [node, ...others] = rpc.map(connectNode)
  if (node && registry && gateway)
    return { nodes: [node, ...others] as const, registry, files: connectGateway(gateway) }
  if (node || registry || gateway) throw new InputError('Use --rpc, --registry and --gateway together.')
  return undefined
}

/** Verifies a proof file, or an asset with independent sources. `verifyLocally` verifies an asset without them. Throws InputError. */
export async function verify(
  subject: string,
  flags: VerifyFlags,
  verifyLocally: (nid: string, options: VerifyFlags) => Promise<Verification>,
): Promise<Verification> {
  const { registry, file, recorder: recorders, blockHash: hashes } = flags
  assertFlags(flags)
  if (await isProofPath(subject)) {
    const nodes = flags.rpc?.map(connectNode)
    return verifyProof({ proof: createReadStream(subject), file, registry, recorders, hashes, nodes })
  }
  const nid = canonicalCid(subject)
  if (nid === undefined) throw new InputError(`${subject} is neither a proof file nor an asset identifier (a CID).`)
  const sources = connectSources(flags)
  return sources ? verifyOnline({ nid, ...sources, recorders, hashes }) : verifyLocally(nid, flags)
}
