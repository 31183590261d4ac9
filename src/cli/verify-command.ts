/** `annal verify`. */
import { type Command, CommanderError } from 'commander'
import type { Verification, VerifyOptions } from '../chain/verify.ts'
import { command } from './command.ts'
import { fail, green, print, printJson, red, say, table, WRONG_USAGE } from './output.ts'
import { publicUrlOf, withInstallation } from './with-installation.ts'

interface VerifyFlags {
  rpcUrl?: string
  registry?: string
  gateway?: string
  recorder?: string[]
  json?: true
}

/** Three flags name the chain, the contract and the file network: then nothing of Annal is asked or trusted. */
async function verify(nid: string, { rpcUrl, registry: address, gateway, recorder: recorders }: VerifyFlags) {
  const given = [rpcUrl, address, gateway].filter((flag) => flag !== undefined)
  const { verifyHistory } = await import('../chain/verify.ts')
  if (rpcUrl && address && gateway) {
    const { createRegistry } = await import('../chain/registry.ts')
    const { createGatewayClient } = await import('../files/gateway-client.ts')
    const files = createGatewayClient({ url: gateway })
    return verifyHistory({ nid, registry: createRegistry({ rpcUrl, address }), files, recorders })
  }
  if (given.length) {
    throw new CommanderError(
      WRONG_USAGE,
      'annal.verify',
      'Give --rpc-url, --registry and --gateway together, or none of them.',
    )
  }
  return withInstallation(async (installation) => {
    const { config, contentStore } = installation
    const { connectChain, relayAddresses } = await import('../installation.ts')
    const chain = await connectChain(installation, publicUrlOf(installation))
    const ours = await relayAddresses(config)
    const options: VerifyOptions = { nid, registry: chain.registry, files: contentStore, recorders: recorders ?? ours }
    try {
      return await verifyHistory(options)
    } finally {
      await chain.close()
    }
  })
}

function printVerification({ nid, agrees, file, commits, foreign }: Verification) {
  const rows = commits.map(({ life, blockNumber, transactionHash, commitData, checks }) => {
    const bad = checks.filter(({ result }) => result !== 'right')
    const time = commitData ? new Date(commitData.timestampCreated * 1000).toISOString() : '-'
    const findings = bad.map(({ name, result, finding }) => `${name} ${result}: ${finding}`).join(' ')
    return [
      String(life),
      String(blockNumber),
      transactionHash,
      time,
      commitData?.actionName ?? '-',
      findings || 'right',
    ]
  })
  print(table([['life', 'block', 'transaction', 'time', 'action', 'checks'], ...rows]))
  print(`file: ${file.finding ?? file.result}`)
  if (foreign) say(`${foreign} commits of other accounts about this asset were left out.`)
  const lives = commits.at(-1)?.life ?? 0
  if (lives > 1) say(`The file was registered ${lives} times; the newest registration and what followed it count.`)
  if (!commits.length) say(red(`The chain holds no commit of ${nid}.`))
  else if (agrees)
    say(
      green(
        `${commits.filter(({ life }) => life === lives).length} commits: chain, trees, hashes, signatures and order agree.`,
      ),
    )
  else say(red('The history does not hold, or a part of it could not be read.'))
}

/** Adds `annal verify`. */
export function addVerifyCommand(program: Command): void {
  command(program, 'verify', "Checks an asset's history with nothing but the chain and the file network.", [
    'annal verify bafkrei…',
    'annal verify bafkrei… --rpc-url https://rpc.example.org --registry 0x5FbD… --gateway https://ipfs.io --json',
  ])
    .argument('<nid>', "the asset's identifier")
    .option('--rpc-url <url>', "somebody's chain node")
    .option('--registry <address>', 'the ERC-7053 registry there')
    .option('--gateway <url>', "somebody's IPFS gateway, or Annal's own address")
    .option(
      '--recorder <address...>',
      "accounts whose commits count; default: this installation's, or all with --rpc-url",
    )
    .option('--json', 'prints the commits with every check')
    .action(async (nid: string, flags: VerifyFlags) => {
      const { isNid } = await import('../domain/ids.ts')
      if (!isNid(nid)) throw new CommanderError(WRONG_USAGE, 'annal.verify', 'A nid is a CID, such as bafkrei….')
      const verification = await verify(nid, flags)
      if (!verification.agrees) fail()
      if (flags.json) printJson(verification)
      else printVerification(verification)
    })
}
