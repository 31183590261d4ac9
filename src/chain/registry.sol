// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// Optional extension of an ERC-7053 registry. Registries report through ERC-165 that they support it.
interface ICommitBatch {
    function commitBatch(string[] calldata assetCids, string[] calldata commitData)
        external
        returns (uint256 blockNumber);
}

/// A registry of commits according to ERC-7053. It has no owner and cannot be paused. Anyone who pays the gas may
/// commit, and readers trust commits by their `recorder`.
contract CommitRegistry is ICommitBatch {
    /// The topics of the log contain only the hash of `assetCid`. The data of the log contains `commitData` as text.
    event Commit(address indexed recorder, string indexed assetCid, string commitData);

    /// `commitBatch` was called with lists of different lengths.
    error LengthsDiffer(uint256 assetCids, uint256 commitData);

    /// The blocks that contain commits of an asset, each once, oldest first. Readers read the events of these blocks.
    mapping(string assetCid => uint256[]) private commits;

    function commit(string calldata assetCid, string calldata commitData) external returns (uint256 blockNumber) {
        record(assetCid, commitData);
        return block.number;
    }

    /// Writes several commits in this order, each with its own event. Writes all of them or none.
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
