/** The optional module of coins: deposits, the treasury and withdrawals. Only `app.ts` imports it. */
import type { Coins } from '../../chain/chain-types.ts'
import type { ChainConnection } from '../../chain/create-chain.ts'
import type { RelayAccount } from '../../chain/keys.ts'
import { idle, type Poller } from '../../chain/poller.ts'
import type { Infrastructure } from '../../infrastructure.ts'
import { createDepositLedger } from './deposit-ledger.ts'
import { createDepositWatcher } from './deposits/deposit-watcher.ts'
import { createLastTransfers } from './last-transfers.ts'
import { createCoinQuotes } from './treasury/quote-transfer.ts'
import { createTreasury } from './treasury/treasury.ts'
import { createTreasuryWorker } from './treasury/treasury-worker.ts'

export interface CoinParts {
  coins: Coins
  treasuryWorker: Poller
  deposits: Poller
  /** Account that deposits are swept to and withdrawals are paid from. */
  treasury: RelayAccount
}

export function createCoins(
  infrastructure: Infrastructure,
  { registry, relayAddresses, isEmbedded, doubtPatience }: ChainConnection,
): CoinParts {
  const { config, database, custody, vault, log, telemetry } = infrastructure
  const { confirmations, maxFeePerGas, depositConfirmations, tokenAddress, treasuryKey, embeddedDeposits } =
    config.chain
  const treasury = createTreasury(treasuryKey, vault)
  return {
    coins: {
      ...createCoinQuotes({ registry, treasury: treasury.address, relayAddresses, maxFeePerGas }),
      ...createLastTransfers({ registry, database, custody, log, treasury: treasury.address, maxFeePerGas }),
    },
    treasuryWorker: createTreasuryWorker({
      ...infrastructure,
      ...{ registry, treasury, confirmations, maxFeePerGas, doubtPatience, meter: telemetry.meter },
    }),
    // Programs on this machine can create coins on an embedded chain.
    deposits:
      isEmbedded && !embeddedDeposits
        ? idle
        : createDepositWatcher({
            ...infrastructure,
            registry,
            ledger: createDepositLedger(infrastructure),
            confirmations: depositConfirmations,
            token: tokenAddress,
          }),
    treasury,
  }
}

export const loadApi = () => import('./coins.api.ts')
export const loadOperations = () => import('./coins.operations.ts')
