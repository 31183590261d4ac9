import { describe, expect, it } from 'vitest'
import type { Config } from '../../../src/config.ts'
import { insufficientFunds, readPricing } from '../../../src/modules/wallet/quote.ts'
import { add, formatAmount, fromUnits, toUnits } from '../../../src/shared/money.ts'

const ONE = 10n ** 18n

describe('amounts', () => {
  it.each([
    ['0', 0n],
    ['1', ONE],
    ['0.1', ONE / 10n],
    ['-0.5', -ONE / 2n],
    ['0.000000000000000001', 1n],
    ['12.500', (ONE * 25n) / 2n],
    ['12.', 12n * ONE],
    ['99999999999999999999.999999999999999999', 10n ** 38n - 1n],
    ['0.1000000000000000000000', ONE / 10n],
  ])('parses the amount %s exactly', (text, units) => {
    expect(toUnits(text)).toBe(units)
  })

  it.each(['', 'x', '1e3', '1,5', '.5', '+1', ' 1', '0x1', '1.0000000000000000001', 'NaN', 'Infinity', '--1'])(
    'rejects the invalid amount %j',
    (text) => {
      expect(() => toUnits(text)).toThrow(RangeError)
    },
  )

  it.each([
    ['12.500', 0, '12.5'],
    ['12.000', 0, '12'],
    ['12', 3, '12.000'],
    ['11.821', 3, '11.821'],
    ['0.10', 1, '0.1'],
    ['5', 1, '5.0'],
    ['0.123456', 3, '0.123456'],
    ['-0.50', 0, '-0.5'],
  ])('formats the amount %s with at least %d decimals as %s', (text, digits, written) => {
    expect(formatAmount(text, digits)).toBe(written)
    expect(formatAmount({ toFixed: () => text }, digits)).toBe(written)
  })

  it('formatting and parsing returns the same amount for random values', () => {
    let seed = 7n
    for (let i = 0; i < 500; i++) {
      seed = (seed * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n
      const units = ((seed * seed) % 10n ** 30n) - 10n ** 29n
      expect(toUnits(fromUnits(units))).toBe(units)
    }
  })

  it('adds amounts without floating-point errors', () => {
    expect(add('0.1', '0.2')).toBe('0.3')
    expect(add(...Array<string>(1000).fill('0.001'))).toBe('1')
    expect(add('1', '-1')).toBe('0')
    expect(add()).toBe('0')
  })
})

describe('price of a commit', () => {
  let gas = '0.0790'
  const config = { money: { assetUpdateFee: '0.10', currency: 'NUM' } } as Config
  const context = { config, gasFee: () => gas }
  it('the price of a commit is the sum of fee and gas', () => {
    expect(readPricing(context)).toEqual({ assetUpdateFee: '0.1', gasFee: '0.079', total: '0.179', currency: 'NUM' })
    gas = '0.2'
    expect(readPricing(context)).toMatchObject({ gasFee: '0.2', total: '0.3' })
    gas = '0.079'
  })

  it('reports the price of a commit and the missing amount if the wallet balance is too low', () => {
    const error = insufficientFunds('commit', { price: '0.179' }, { points: '0.1', num: '0.03' })
    expect(error.code).toBe('ASSET_COMMIT_INSUFFICIENT_FUND')
    expect(error.shortfall).toEqual({ required: '0.179', available: '0.13', missing: '0.049' })
    expect(error.details).toMatch(/: 0\.179$/)
    expect(error.message.toLowerCase()).toContain('insufficient')
  })
})
