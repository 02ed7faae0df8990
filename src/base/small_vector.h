// SmallVector: a vector of trivially copyable elements whose first N live inside the object, so
// that shapes and id lists cost no allocation. The subset of std::vector that the project uses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>

namespace sardonyx {

template <typename T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(size_t count, const T& value = T()) { assign(count, value); }
  SmallVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <std::input_iterator It>
  SmallVector(It first, It last) {
    assign(first, last);
  }
  explicit SmallVector(std::span<const T> values) { assign(values.begin(), values.end()); }
  SmallVector(const SmallVector& other) { assign(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }

  void clear() { size_ = 0; }
  void push_back(const T& value) {
    const T copy = value;  // `value` may live inside this vector
    reserve(size_ + 1);
    data_[size_++] = copy;
  }
  void pop_back() { --size_; }
  void reserve(size_t count) {
    if (count <= capacity_) return;
    const size_t grown = std::max(count, capacity_ * 2);
    T* fresh = new T[grown];
    std::copy_n(data_, size_, fresh);
    if (data_ != inline_) delete[] data_;
    data_ = fresh;
    capacity_ = grown;
  }
  void resize(size_t count, const T& value = T()) {
    reserve(count);
    for (size_t i = size_; i < count; ++i) data_[i] = value;
    size_ = count;
  }
  void assign(size_t count, const T& value) {
    size_ = 0;
    resize(count, value);
  }
  template <std::input_iterator It>
  void assign(It first, It last) {
    size_ = 0;
    for (; first != last; ++first) push_back(*first);
  }
  T* insert(const T* position, const T& value) {
    const size_t at = static_cast<size_t>(position - data_);
    const T copy = value;
    resize(size_ + 1);
    std::copy_backward(data_ + at, data_ + size_ - 1, data_ + size_);
    data_[at] = copy;
    return data_ + at;
  }
  T* erase(const T* position) {
    const size_t at = static_cast<size_t>(position - data_);
    std::copy(data_ + at + 1, data_ + size_, data_ + at);
    --size_;
    return data_ + at;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void release() {
    if (data_ != inline_) delete[] data_;
    data_ = inline_;
    capacity_ = N;
    size_ = 0;
  }
  void take(SmallVector& other) {
    if (other.data_ == other.inline_) {
      std::copy_n(other.data_, other.size_, inline_);
      data_ = inline_;
      capacity_ = N;
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_;
      other.capacity_ = N;
    }
    size_ = other.size_;
    other.size_ = 0;
  }

  T* data_ = inline_;
  size_t size_ = 0;
  size_t capacity_ = N;
  T inline_[N];
};

}  // namespace sardonyx
