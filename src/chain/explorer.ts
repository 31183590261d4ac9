/** Where a person can look at a transaction. `base` is a block explorer's address, `https://etherscan.io`. */
export const createExplorerUrl =
  (base: string | undefined) =>
  (transactionHash: string): string | null =>
    base ? `${base.replace(/\/+$/, '')}/tx/${transactionHash}` : null
