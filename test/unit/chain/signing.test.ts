import { Interface, Transaction, Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { createKeyPair, createRelayAccount, signText } from '../../../src/chain/keys.ts'
import { restAfter } from '../../../src/chain/poller.ts'
import {
  decodeCommits,
  encodeCommit,
  encodeCommitData,
  encodeCommits,
  parseCommitData,
} from '../../../src/chain/registry/abi.ts'
import artefact from '../../../src/chain/registry.json' with { type: 'json' }
import { costsOf } from '../../../src/chain/relay/find-on-chain.ts'
import { feeOf, type LogReply, type ReceiptReply } from '../../../src/chain/rpc.ts'
import { chooseFees, nonceOf, parseTransaction, raiseFees, signTransaction } from '../../../src/chain/transaction.ts'
import { createDescribeCommit } from '../../../src/modules/commits/commits.ts'
import { relayKeys } from '../../support/chain/anvil.ts'
import { recoverSigner } from '../../support/recover-signer.ts'

const gwei = 1_000_000_000n
const registry = new Interface(artefact.abi)

describe('signing keys', () => {
  it('recovers the checksummed address from a signature of a new key pair', () => {
    const { address, privateKey } = createKeyPair()
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
    expect(privateKey).toHaveLength(32)
    expect(recoverSigner('text', signText(privateKey, 'text'))).toBe(address)
    expect(recoverSigner('other', signText(privateKey, 'text'))).not.toBe(address)
  })

  it('produces the same signatures as an independent wallet library', async () => {
    const wallet = Wallet.createRandom()
    expect(signText(Buffer.from(wallet.privateKey.slice(2), 'hex'), 'abc')).toBe(await wallet.signMessage('abc'))
  })

  it('rejects a malformed relay key without printing it', () => {
    expect(() => createRelayAccount('0xsecret')).toThrow(/^A relay key is not a private key/)
    expect(() => createRelayAccount('secret')).not.toThrow(/secret/)
  })
})

describe('transactions', () => {
  const account = createRelayAccount(relayKeys[0] ?? '')

  it.each([0, 1, 127, 128, 255, 256, 70_000])(
    'encodes and signs transactions like ethers for nonce %i',
    async (nonce) => {
      const data = encodeCommit('bafynid', 'x'.repeat(nonce % 300))
      const fees = { gasLimit: 200_000n, maxFeePerGas: 30n * gwei, maxPriorityFeePerGas: 0n }
      const plan = { chainId: 31337, nonce, to: account.address, data, ...fees }
      const { raw, hash } = signTransaction(account, plan)
      const read = Transaction.from(`0x${Buffer.from(raw).toString('hex')}`)
      expect(read).toMatchObject({ ...plan, chainId: 31337n, type: 2, value: 0n, from: account.address, hash })
      expect(read.serialized).toBe(
        await new Wallet(relayKeys[0] ?? '').signTransaction({ ...plan, type: 2, value: 0n }),
      )
      expect(nonceOf(raw)).toBe(nonce)
      expect(parseTransaction(raw)).toMatchObject({ nonce, data, to: account.address })
    },
  )

  it.each([0, 1, 31, 32, 33, 1000])('encodes a commit of %i characters like the ABI library', (length) => {
    const text = '照'.repeat(length)
    const library = new Interface(['function commit(string, string)'])
    expect(encodeCommit('bafynid', text)).toBe(library.encodeFunctionData('commit', ['bafynid', text]))
  })

  it('decodes an encoded commit with non-ASCII characters', () => {
    const commit = { nid: 'bafynid', commitData: 'Übergröße 照片' }
    expect(decodeCommits(encodeCommit(commit.nid, commit.commitData))).toEqual([commit])
    expect(() => decodeCommits('0x')).toThrow()
  })
})

describe('calls with several commits', () => {
  const library = new Interface(['function commitBatch(string[], string[])'])

  it.each([2, 3, 40])(
    'encodes a batch call with %i commits like the ABI library, and decodes its commits in order',
    (count) => {
      const commits = Array.from({ length: count }, (_, index) => ({
        nid: `bafynid${'照'.repeat(index)}`,
        commitData: 'x'.repeat(index * 7),
      }))
      const data = encodeCommits(commits)
      const lists = [commits.map(({ nid }) => nid), commits.map(({ commitData }) => commitData)]
      expect(data).toBe(library.encodeFunctionData('commitBatch', lists))
      expect(decodeCommits(data)).toEqual(commits)
    },
  )

  it('encodes a batch of one commit as a single call', () => {
    expect(encodeCommits([{ nid: 'bafynid', commitData: 'x' }])).toBe(encodeCommit('bafynid', 'x'))
  })
})

describe('cost of a transaction', () => {
  const topic = registry.getEvent('Commit')!.topicHash
  const place = { transactionHash: '0x', blockNumber: '0x1', blockHash: '0x' }
  const log = (characters: number): LogReply => ({
    ...{ ...place, address: '0x', topics: [topic], data: '0'.repeat(characters), logIndex: '0x0' },
  })
  const receipt = (sizes: number[], more: Partial<ReceiptReply> = {}): ReceiptReply => ({
    ...{ ...place, status: '0x1' },
    ...{ logs: sizes.map(log), gasUsed: '0x186a1', effectiveGasPrice: '0x3b9aca01', ...more },
  })

  it.each([[[1]], [[1, 1, 1]], [[130, 2_000, 7]], [Array.from({ length: 64 }, (_, index) => 100 + index)]])(
    'divides the transaction cost among the commits by size, exact to the wei (%j)',
    (sizes) => {
      const costs = costsOf(receipt(sizes))
      expect(costs.reduce((sum, { gas }) => sum + gas, 0)).toBe(100_001)
      expect(costs.reduce((sum, { fee }) => sum + fee, 0n)).toBe(100_001n * 1_000_000_001n)
      const whole = sizes.reduce((sum, size) => sum + size, 0)
      for (const [index, { gas }] of costs.entries())
        expect(Math.abs(gas - (100_001 * sizes[index]!) / whole)).toBeLessThan(1)
    },
  )

  it('includes the L1 data fee of a rollup in the transaction cost', () => {
    expect(costsOf(receipt([8, 8], { l1Fee: '0x3' }))).toEqual([
      { gas: 50_000, fee: 50000500050002n },
      { gas: 50_001, fee: 50000500050002n },
    ])
  })

  it('treats the transaction fee as 0 if the node does not report it', () => {
    expect(feeOf({})).toBe(0n)
    expect(feeOf({ gasUsed: '0x5208' })).toBe(0n)
  })

  it('charges no commit if the transaction failed or emitted no commit event', () => {
    expect(costsOf(receipt([8], { status: '0x0' }))).toEqual([])
    expect(costsOf(receipt([], { logs: [{ ...log(8), topics: ['0x'] }] }))).toEqual([])
  })
})

describe('transaction fees', () => {
  it('transaction fees follow the market up to the cap', () => {
    const market = { nextBaseFee: 10n * gwei, tip: gwei }
    const fees = { maxFeePerGas: 21n * gwei, maxPriorityFeePerGas: gwei }
    expect(chooseFees(market, 500n * gwei)).toEqual(fees)
    expect(chooseFees(market, 15n * gwei)?.maxFeePerGas).toBe(15n * gwei)
    expect(chooseFees(market, 9n * gwei)).toBeUndefined()
  })

  it.each([0n, 1n, 7n, gwei, 123_456_789n])(
    'the fees of a replacement transaction rise by at least 12.5 %% above %s wei',
    (fee) => {
      const previous = { maxFeePerGas: fee, maxPriorityFeePerGas: fee }
      const raised = raiseFees(previous, { nextBaseFee: 0n, tip: 0n }, 500n * gwei)
      for (const value of [raised?.maxFeePerGas, raised?.maxPriorityFeePerGas]) {
        expect(value).toBeGreaterThan(fee)
        expect((value ?? 0n) * 1000n).toBeGreaterThanOrEqual(fee * 1125n)
      }
    },
  )

  it('the fees of a replacement transaction follow the market and never exceed the cap', () => {
    const previous = { maxFeePerGas: 3n * gwei, maxPriorityFeePerGas: gwei }
    expect(raiseFees(previous, { nextBaseFee: 20n * gwei, tip: gwei }, 500n * gwei)?.maxFeePerGas).toBe(41n * gwei)
    expect(raiseFees(previous, { nextBaseFee: gwei, tip: gwei }, 3n * gwei)).toBeUndefined()
  })
})

describe('commit data', () => {
  const describeCommit = createDescribeCommit({
    provider: 'annal',
    publicUrl: 'https://annal.example',
    actionNids: { 'action-initial-registration': 'bafyfirst', 'action-commit': 'bafyother' },
  })
  const facts = {
    ...{ nid: 'bafynid', sequence: 1, treeCid: 'bafktree', treeSha256: 'a'.repeat(64), treeSignature: '0x01' },
    ...{ creatorAddress: '0xauthor', committerAddress: '0xcommitter', message: '' },
    createdAt: new Date(1_683_286_764_999),
  }

  it('writes the keys of commit data in the order of the public layout', () => {
    expect(encodeCommitData(describeCommit(facts))).toBe(
      `{"assetTreeCid":"bafktree","assetTreeSha256":"${'a'.repeat(64)}","assetTreeSignature":"0x01","author":"0xauthor",` +
        '"committer":"0xcommitter","provider":"annal","timestampCreated":1683286764,"action":"bafyfirst",' +
        '"actionResult":"https://annal.example/api/v3/assets/bafynid/","actionName":"action-initial-registration","abstract":""}',
    )
  })

  it('labels every commit after the registration as an update', () => {
    const action = { actionName: 'action-commit', action: 'bafyother' }
    expect(describeCommit({ ...facts, sequence: 2 })).toMatchObject(action)
  })

  it('ignores malformed commit data of other writers in the registry', () => {
    expect(parseCommitData(encodeCommitData(describeCommit(facts)))).toEqual(describeCommit(facts))
    for (const text of ['', '{', '[]', 'null', '{"assetTreeCid":1}']) expect(parseCommitData(text)).toBeUndefined()
  })
})

describe('CPU throttle', () => {
  it('the CPU throttle yields to requests, but never stops the signing of commits', () => {
    expect(restAfter(2)).toBe(30)
    // A long duration means that the task waited for the CPU.
    expect(restAfter(2_000)).toBeLessThanOrEqual(100)
  })
})
