/** Connects to the chain and creates the optional coins module. */
import type { Coins } from './chain/chain-types.ts'
import { type ChainConnection, createChain } from './chain/create-chain.ts'
import type { RelayAccount } from './chain/keys.ts'
import type { Poller } from './chain/poller.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createCoinLedger } from './modules/coins/coin-ledger.ts'
import { createDepositLedger } from './modules/coins/deposit-ledger.ts'
import { createDepositWatcher } from './modules/coins/deposits/deposit-watcher.ts'
import { createLastTransfers } from './modules/coins/last-transfers.ts'
import { createCoinQuotes } from './modules/coins/treasury/quote-transfer.ts'
import { createTreasury } from './modules/coins/treasury/treasury.ts'
import { createTreasuryWorker } from './modules/coins/treasury/treasury-worker.ts'

/** The coins module of a process. */
interface CoinParts {
  coins: Coins
  /** Sweeps deposits and pays withdrawals. */
  treasuryWorker: Poller
  deposits: Poller
  /** Account that deposits are swept to and withdrawals are paid from. */
  treasury: RelayAccount
}

const noDeposits: Poller = { start() {}, async stop() {} }

function createCoins(
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
      ledger: createCoinLedger(infrastructure),
    }),
    // Programs on this machine can create coins on an embedded chain.
    deposits:
      isEmbedded && !embeddedDeposits
        ? noDeposits
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

/** The parts of a process that use the chain. `close` stops them. */
export interface OpenChain extends ChainConnection, CoinParts {}

/** Connects to the chain and creates the coins module. Nothing is started except an embedded chain. */
export async function openChain(infrastructure: Infrastructure, publicUrl: string): Promise<OpenChain> {
  const chain = await createChain(infrastructure, publicUrl)
  const coins = createCoins(infrastructure, chain)
  return {
    ...chain,
    ...coins,
    async close() {
      await Promise.all([chain.relay.stop(), coins.deposits.stop(), coins.treasuryWorker.stop()])
      await chain.close()
    },
  }
}
