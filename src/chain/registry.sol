// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A registry of commits after ERC-7053. It has no owner and no switch: whoever pays the gas may commit, and readers
/// choose by `recorder` whom they trust.
contract CommitRegistry {
    /// Only the hash of `assetCid` stands in the log's topics; `commitData` is readable.
    event Commit(address indexed recorder, string indexed assetCid, string commitData);

    /// The blocks that hold commits of an asset, each once, oldest first: readers ask every block that stands here for its events.
    mapping(string assetCid => uint256[]) private commits;

    function commit(string calldata assetCid, string calldata commitData) external returns (uint256 blockNumber) {
        blockNumber = block.number;
        uint256[] storage blocks = commits[assetCid];
        if (blocks.length == 0 || blocks[blocks.length - 1] != blockNumber) blocks.push(blockNumber);
        emit Commit(msg.sender, assetCid, commitData);
    }

    function getCommits(string calldata assetCid) external view returns (uint256[] memory) {
        return commits[assetCid];
    }
}
