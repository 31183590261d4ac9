/** Checks of the coins that are held: how deposits count, and where they lie. */
import { fromUnits } from '../../shared/money.ts'
import { node } from './chain.ts'
import { type Diagnosis, right, SkippedError, toKnow, wrong } from './diagnosis.ts'
import type { Parts } from './parts.ts'

interface Block {
  number: string
}

/** Raises SkippedError where the chain is embedded or does not answer: another check tells of that. */
async function answeringNode(parts: Parts) {
  const { chain } = await parts.config()
  const rpc = await node(chain)
  const { isUnavailable } = await import('../../shared/errors.ts')
  const head = await rpc.call<Block>('eth_getBlockByNumber', 'latest', false).catch((error: unknown) => {
    throw isUnavailable(error) ? new SkippedError('The chain does not answer.') : error
  })
  return { chain, rpc, head }
}

/** Whether the chain says which blocks are final, where deposits go by that, and whether the token that is credited is one. */
export async function checkDeposits(parts: Parts): Promise<Diagnosis[]> {
  const { chain, rpc, head } = await answeringNode(parts)
  const { depositConfirmations, tokenAddress } = chain
  const diagnoses: Diagnosis[] = []
  if (depositConfirmations === 'finalized') {
    const final = await rpc.call<Block | null>('eth_getBlockByNumber', 'finalized', false).catch(() => null)
    const behind = Number(head.number) - Number(final?.number)
    diagnoses.push(
      final
        ? right(`Deposits count once their block is final, which is now ${behind} blocks behind the newest.`)
        : wrong(
            'CHAIN_DEPOSIT_CONFIRMATIONS says finalized, and the chain does not tell which block is: no deposit counts.',
            'Set CHAIN_DEPOSIT_CONFIRMATIONS to a number of blocks.',
          ),
    )
  } else diagnoses.push(right(`Deposits count once ${depositConfirmations} blocks lie on top.`))
  if (tokenAddress === undefined) return diagnoses
  const { readDecimals } = await import('../../modules/coins/deposits/finder.ts')
  try {
    diagnoses.push(
      right(`The token at ${tokenAddress} is credited; it has ${await readDecimals(rpc, tokenAddress)} decimals.`),
      toKnow(
        'Tokens stay where they come in, and withdrawals are paid in coins: the treasury needs coins for them, too.',
      ),
    )
  } catch (error) {
    diagnoses.push(wrong((error as Error).message, 'Set CHAIN_TOKEN_ADDRESS right: until then no deposit counts.'))
  }
  return diagnoses
}

/** What the treasury holds, and whether coins of users lie at an earlier one. */
export async function checkTreasury(parts: Parts): Promise<Diagnosis[]> {
  const { chain, rpc } = await answeringNode(parts)
  const { dir, keys } = await parts.config()
  const { database } = await parts.database()
  const { isVaultKnown } = await import('../../keys/vault-identity.ts')
  // Without a key of its own it is made of the vault's, which nothing here may make.
  if (chain.treasuryKey === undefined && !(await isVaultKnown(database)))
    return [toKnow('Nothing is sealed yet: the first start makes the treasury.')]
  const { createLocalKeyVault } = await import('../../keys/key-vault.ts')
  const { createTreasury, earlierTreasurySentence, findEarlierTreasuries } = await import(
    '../../modules/coins/treasury/treasury.ts'
  )
  const { createCoinService } = await import('../../modules/coins/coin-service.ts')
  const { address } = createTreasury(chain.treasuryKey, createLocalKeyVault({ ...keys, dir }))
  const balance = BigInt(await rpc.call<string>('eth_getBalance', address, 'latest'))
  const books = createCoinService({ database, notifications: { notify() {} } })
  const earlier = await findEarlierTreasuries(rpc, books, address)
  return [
    right(`The treasury ${address} holds ${fromUnits(balance)} coins.`),
    ...earlier.map((each) =>
      wrong(earlierTreasurySentence(each, address), 'docs/operations.md tells what to do about the treasury’s key.'),
    ),
  ]
}
