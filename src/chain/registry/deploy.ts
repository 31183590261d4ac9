/** Deploys the registry contract to a chain that has none. */
import { setTimeout as delay } from 'node:timers/promises'
import { getCreateAddress } from 'ethers'
import { rememberSetting } from '../../db/key-value-store.ts'
import { statement, text } from '../../db/sql.ts'
import { type RelayAccount, toHex } from '../keys.ts'
import type { RelayOptions } from '../relay/relay-parts.ts'
import { isRpcError, quantity } from '../rpc.ts'
import { chooseFees, isPoor, signTransaction } from '../transaction.ts'
import { readAccounts, readView } from '../view.ts'
import { registryBytecode } from './abi.ts'
import { recordStart, registrySetting } from './registry.ts'

interface DeployOptions extends Pick<RelayOptions, 'registry' | 'database' | 'log' | 'maxFeePerGas'> {
  account: RelayAccount
  signal: AbortSignal
}

const RECEIPT_WAIT_MS = 60_000
const RECEIPT_POLL_MS = 100

/**
 * Returns the registry's address on this chain and deploys the contract if it is missing. The caller must hold the account's lease, so that no other process
 * deploys it. The address is stored before the transaction is sent, because it depends only on account and nonce. After a crash or a reset of the chain the
 * contract is deployed at the same address, and signed transactions stay valid.
 */
export const ensureRegistry = async (options: DeployOptions): Promise<string> => {
  const { registry, database, account, log, signal } = options
  const { rpc } = registry
  const chainId = await registry.readChainId()
  const key = registrySetting(chainId)
  const known = await registry.findAddress(chainId)
  if (known && (await registry.hasCode(known))) return known
  if (registry.configuredAddress)
    throw new Error(
      `CHAIN_REGISTRY_ADDRESS says ${known}, but on chain ${chainId} there is no contract at that address.`,
    )

  const view = await readView(rpc, [])
  // Read code and transaction count at the same block, because nodes behind a load balancer can be at different heights.
  const block = quantity(view.head.number)
  if (known && (await registry.hasCode(known, block))) return known
  const [seen] = await readAccounts(rpc, [account.address], block)
  const nonce = seen!.count
  const address = getCreateAddress({ from: account.address, nonce })
  if (known && known !== address) {
    const [replaced] = await database.query(replaceUnusedRegistry, { key, value: address })
    if (!replaced)
      throw new Error(
        `There is no registry at ${known} on chain ${chainId}. Restore the chain's data, ` +
          'or set CHAIN_REGISTRY_ADDRESS to where the registry is.',
      )
  } else {
    const [row] = await database.query(rememberSetting, { key, value: address })
    // Another process stored its address first.
    if (row?.value !== address) throw new Error('The registry is being deployed by another process.')
  }

  const fees = chooseFees(view, options.maxFeePerGas)
  if (!fees)
    throw new Error('The base fee is above the highest fee that the relay may pay; the registry is not deployed.')
  const estimate = await rpc.call<string>('eth_estimateGas', { from: account.address, data: registryBytecode })
  const gasLimit = (BigInt(estimate) * 5n) / 4n
  const signed = signTransaction(account, { ...fees, chainId, nonce, data: registryBytecode, gasLimit })
  const fields = { chainId, address, transaction: signed.hash }
  if (known === address)
    log.warn(fields, 'The chain lost the registry; deploying it again and sending every commit again')
  else log.info(fields, 'Deploying the registry')
  await rpc.call('eth_sendRawTransaction', toHex(signed.raw)).catch((error: unknown) => {
    // An earlier deployment may be pending with this nonce. It creates the same contract at the same address.
    if (!isRpcError(error) || isPoor(error)) throw error
    log.warn({ err: error, nonce }, 'The node rejected the deployment of the registry; waiting for an earlier one')
  })
  const deadline = performance.now() + RECEIPT_WAIT_MS
  while (!(await registry.hasCode(address))) {
    if (performance.now() > deadline) throw new Error(`The registry's deployment ${signed.hash} is not included yet.`)
    await delay(RECEIPT_POLL_MS, undefined, { signal })
  }
  await recordStart({ rpc, database, chainId, address }, signed.hash)
  return address
}

/** Replaces the stored address of a registry if no transaction was ever signed. */
const replaceUnusedRegistry = statement(
  'registry_replace_unused',
  { parameters: { key: text, value: text }, columns: { value: text } },
  `update key_values set value = $value where key = $key and not exists (select from chain_transactions) returning value`,
)
