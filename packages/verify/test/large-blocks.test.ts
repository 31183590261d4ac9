/** Proofs of large commits, and of commits in large blocks. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCreateAddress, type TransactionLike, Wallet } from 'ethers'
import { beforeAll, expect, it } from 'vitest'
import { annalHere, type Said } from '../../../test/support/annal-command.ts'
import { annalVerify } from '../../../test/support/annal-verify.ts'
import { atEnd } from '../../../test/support/at-end.ts'
import { relayKeys, startChain } from '../../../test/support/chain/anvil.ts'
import { startToldGateway, type ToldGateway } from '../../../test/support/fake-node.ts'
import type { Verification } from '../src/verification.ts'
import { createForger, type Forger } from './forger.ts'

const airdrop = '6107d05b80808060206000a36001900380600357 00'.replace(' ', '')
const airdropDeployment = `0x60${(airdrop.length / 2).toString(16).padStart(2, '0')}80600b6000396000f3${airdrop}`

let forger: Forger
let gateway: ToldGateway
let url: string
let dir: string
let chainId: number
const sender = new Wallet(relayKeys[1]!)
let nonce = 0
let contract: string

async function send(transaction: TransactionLike<string>) {
  const fees =
    transaction.type === 0 || transaction.type === 1
      ? { gasPrice: 100_000_000_000n }
      : { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n }
  const signed = await sender.signTransaction({ chainId, nonce, gasLimit: 6_000_000, ...fees, ...transaction })
  nonce += 1
  return forger.rpc.call<string>('eth_sendRawTransaction', signed)
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'annal-large-'))
  atEnd(() => rm(dir, { recursive: true, force: true }))
  const chain = await startChain({ args: ['--no-mining'] })
  atEnd(chain.stop)
  url = chain.url
  forger = await createForger(url, relayKeys[0]!)
  gateway = await startToldGateway(atEnd, 'http://127.0.0.1:1')
  gateway.swap = (cid) => forger.blocks.get(cid) ?? null
  chainId = Number(await forger.rpc.call('eth_chainId'))
  contract = getCreateAddress({ from: sender.address, nonce })
  await send({ type: 2, data: airdropDeployment })
  await forger.rpc.call('evm_mine')
})

const read = ({ code, stdout, stderr }: Said): Verification & { code: number } => {
  if (!stdout) throw new Error(stderr)
  return { code, ...JSON.parse(stdout) }
}

async function verifyAll(nid: string, name: string): Promise<(Verification & { code: number })[]> {
  const path = join(dir, `${name}.car`)
  const sources = ['--rpc', url, '--registry', forger.registry, '--gateway', gateway.url]
  const written = await annalHere({}, ['proof', nid, '--out', path, ...sources])
  expect(written).toMatchObject({ code: 0 })
  const { hash } = await forger.rpc.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
  const byProof = [path, '--json', '--registry', forger.registry, '--block-hash', hash]
  const online = [nid, '--json', ...sources]
  return [
    read(await annalVerify(...byProof)),
    read(await annalHere({}, ['verify', ...byProof])),
    read(await annalVerify(...online)),
    read(await annalHere({}, ['verify', ...online])),
  ]
}

const authorization = async () => ({
  ...{ address: contract, nonce: 0n, chainId: BigInt(chainId) },
  signature: new Wallet(relayKeys[0]!).authorizeSync({ address: contract, nonce: 0, chainId }).signature,
})

it.each([0, 1, 2, 4])('verifies a commit next to 2,000 events of a transaction of type %i', async (type) => {
  const nid = forger.hold(`a file beside an airdrop of type ${type}`)
  const accessList = [{ address: contract, storageKeys: [`0x${'00'.repeat(32)}`] }]
  const transaction = await send({
    ...{ type, to: contract },
    ...(type > 0 && { accessList }),
    ...(type === 4 && { authorizationList: [await authorization()] }),
  })
  await forger.commit([nid, await forger.write(nid, 1)])
  const receipt = await forger.rpc.call<{ type: string; logs: unknown[]; blockNumber: string }>(
    'eth_getTransactionReceipt',
    transaction,
  )
  expect([Number(receipt.type), receipt.logs.length]).toEqual([type, 2_000])
  for (const found of await verifyAll(nid, `airdrop-${type}`)) {
    expect(found).toMatchObject({
      ...{ code: 0, verdict: 'holds', complete: { result: 'right' } },
      commits: [
        {
          blockNumber: Number(receipt.blockNumber),
          checks: expect.arrayContaining([{ name: 'transaction', result: 'right' }]),
        },
      ],
    })
  }
})

it('verifies a commit with 200 KB of commit data', async () => {
  const nid = forger.hold('a file with a long story')
  await forger.commit([nid, await forger.write(nid, 1)])
  await forger.commit([nid, await forger.write(nid, 2, () => ({ abstract: 'Once upon a time. '.repeat(12_000) }))])
  for (const found of await verifyAll(nid, 'commit-data')) {
    expect(found).toMatchObject({ code: 0, verdict: 'holds' })
    expect(found.commits[1]!.commitData!.abstract).toHaveLength(216_000)
  }
})
