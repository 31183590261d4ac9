// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A registry of commits after ERC-7053. It has no owner and no switch: whoever pays the gas may commit, and readers
/// choose by `recorder` whom they trust.
contract CommitRegistry {
    /// Only the hash of `assetCid` stands in the log's topics; `commitData` is readable.
    event Commit(address indexed recorder, string indexed assetCid, string commitData);

    /// Block numbers of an asset's commits, one for each commit, oldest first.
    mapping(string assetCid => uint256[]) private commits;

    function commit(string calldata assetCid, string calldata commitData) external returns (uint256 blockNumber) {
        blockNumber = block.number;
        commits[assetCid].push(blockNumber);
        emit Commit(msg.sender, assetCid, commitData);
    }

    /// A block that holds two commits of the asset stands here twice.
    function getCommits(string calldata assetCid) external view returns (uint256[] memory) {
        return commits[assetCid];
    }
}
