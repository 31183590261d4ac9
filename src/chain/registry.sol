// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// What a registry offers beyond ERC-7053. ERC-165 tells whether it does.
interface ICommitBatch {
    function commitBatch(string[] calldata assetCids, string[] calldata commitData)
        external
        returns (uint256 blockNumber);
}

/// A registry of commits after ERC-7053. It has no owner and no switch: whoever pays the gas may commit, and readers
/// choose by `recorder` whom they trust.
contract CommitRegistry is ICommitBatch {
    /// Only the hash of `assetCid` stands in the log's topics; `commitData` is readable.
    event Commit(address indexed recorder, string indexed assetCid, string commitData);

    /// As many assets as commits are needed.
    error LengthsDiffer(uint256 assetCids, uint256 commitData);

    /// The blocks that hold commits of an asset, each once, oldest first: readers ask every block that stands here for its events.
    mapping(string assetCid => uint256[]) private commits;

    function commit(string calldata assetCid, string calldata commitData) external returns (uint256 blockNumber) {
        record(assetCid, commitData);
        return block.number;
    }

    /// The same as one `commit` after another, in this order: each with its own event, all or none.
    function commitBatch(string[] calldata assetCids, string[] calldata commitData)
        external
        returns (uint256 blockNumber)
    {
        if (assetCids.length != commitData.length) revert LengthsDiffer(assetCids.length, commitData.length);
        for (uint256 index = 0; index < assetCids.length; ++index) record(assetCids[index], commitData[index]);
        return block.number;
    }

    function getCommits(string calldata assetCid) external view returns (uint256[] memory) {
        return commits[assetCid];
    }

    /// ERC-165.
    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == type(ICommitBatch).interfaceId || interfaceId == 0x01ffc9a7;
    }

    function record(string calldata assetCid, string calldata commitData) private {
        uint256[] storage blocks = commits[assetCid];
        if (blocks.length == 0 || blocks[blocks.length - 1] != block.number) blocks.push(block.number);
        emit Commit(msg.sender, assetCid, commitData);
    }
}
