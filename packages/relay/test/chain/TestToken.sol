// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.37;

/// A token for tests: whoever deploys it has all of it. It also emits what no well-behaved token would.
contract TestToken {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public immutable decimals;
    mapping(address => uint256) public balanceOf;

    constructor(uint8 digits) {
        decimals = digits;
        balanceOf[msg.sender] = type(uint256).max;
    }

    function transfer(address to, uint256 value) public returns (bool) {
        require(balanceOf[msg.sender] >= value, "too little");
        balanceOf[msg.sender] -= value;
        unchecked {
            balanceOf[to] += value;
        }
        emit Transfer(msg.sender, to, value);
        return true;
    }

    /// Several payments in one transaction, as exchanges make them.
    function transferAll(address[] calldata to, uint256 value) external {
        for (uint256 i = 0; i < to.length; i++) transfer(to[i], value);
    }

    /// The same event as a collectible's (ERC-721) has it: the third word is an index, not an amount.
    function emitCollectible(address to, uint256 id) external {
        bytes32 signature = keccak256("Transfer(address,address,uint256)");
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes32 receiver = bytes32(uint256(uint160(to)));
        assembly {
            log4(0, 0, signature, sender, receiver, id)
        }
    }
}
