/** The encoding of receipts matches the receipts root in the block header, for every type of transaction. */
import { decodeRlp, encodeRlp as encodeByEthers, hexlify } from 'ethers'
import { expect, it } from 'vitest'
import { decodeLogs, encodeReceipt, encodeRlp, type RlpItem } from '../src/ethereum.ts'

const log = { address: `0x${'4a'.repeat(20)}`, topics: [`0x${'01'.repeat(32)}`], data: '0x0203' }
const deposit = {
  ...{ type: '0x7e', status: '0x1', cumulativeGasUsed: '0xb729', logsBloom: `0x${'00'.repeat(256)}`, logs: [log] },
}

// https://specs.optimism.io/protocol/deposits.html#deposit-receipt
it.each([
  [
    'a deposit on the OP stack is encoded with its nonce and version',
    { depositNonce: '0x1a', depositReceiptVersion: '0x1' },
    6,
  ],
  [
    'a deposit with nonce 0 is encoded with its nonce and version',
    { depositNonce: '0x0', depositReceiptVersion: '0x1' },
    6,
  ],
  ['a deposit without a version is encoded without a nonce', { depositNonce: '0x1a' }, 4],
])('the receipt of %s', (_, reported, count) => {
  const bytes = encodeReceipt({ ...deposit, ...reported })
  const fields = decodeRlp(bytes.subarray(1)) as unknown[]
  const nonce = reported.depositNonce === '0x0' ? '0x' : reported.depositNonce
  expect([bytes[0], fields.length, ...fields.slice(4)]).toEqual([0x7e, count, ...(count === 6 ? [nonce, '0x01'] : [])])
  expect(decodeLogs(bytes)).toEqual([log])
})

it('encodes a receipt with 20,000 events', () => {
  const logs = Array.from({ length: 20_000 }, () => log)
  const bytes = encodeReceipt({ type: '0x2', status: '0x1', cumulativeGasUsed: '0x1', logsBloom: '0x', logs })
  expect(decodeLogs(bytes)).toHaveLength(20_000)
})

it('encodes a receipt event with a megabyte of data', () => {
  const data = `0x${'ab'.repeat(1_000_000)}`
  const bytes = encodeReceipt({
    type: '0x2',
    status: '0x1',
    cumulativeGasUsed: '0x1',
    logsBloom: '0x',
    logs: [{ ...log, data }],
  })
  expect(decodeLogs(bytes)).toEqual([{ ...log, data }])
})

it.each<RlpItem[]>([
  ['0x'],
  ['0x00'],
  ['0x7f'],
  ['0x80'],
  [`0x${'11'.repeat(55)}`],
  [`0x${'11'.repeat(56)}`],
  [`0x${'11'.repeat(70_000)}`],
  [[]],
  [['0x01', ['0x', [`0x${'22'.repeat(54)}`, []]]]],
  [Array(300).fill('0x1234')],
])('encodes the value %s like the RLP encoder of ethers', (item) => {
  expect(hexlify(encodeRlp(item))).toBe(encodeByEthers(item as string))
})
