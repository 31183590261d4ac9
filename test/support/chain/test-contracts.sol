// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// A token as OpenZeppelin's is, as far as deposits look at it.
contract TestToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 decimals_) {
        decimals = decimals_;
        balanceOf[msg.sender] = type(uint128).max;
    }

    function transfer(address to, uint256 value) public returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    /// Several events in one transaction.
    function transferTwice(address to, uint256 first, uint256 second) external {
        transfer(to, first);
        transfer(to, second);
    }

    function transferAndFail(address to, uint256 value) external {
        transfer(to, value);
        revert("for a test");
    }
}

/// Sends on what it gets: the receiver stands in no transaction.
contract Payer {
    function pay(address payable to) external payable {
        (bool sent, ) = to.call{value: msg.value}("");
        require(sent);
    }

    function payAndFail(address payable to) external payable {
        to.transfer(msg.value);
        revert("for a test");
    }
}
